import { useEffect, useRef } from "react";
import { useNavigation } from "react-router";

// In ms: how long a page may take without a bar, how long the bar takes, how long it stays when
// it is full, how long it fades.
export const throttle = 200;
export const duration = 2000;
export const hideDelay = 500;
export const resetDelay = 400;

/** A line across the top while a page is on its way. */
export function LoadingBar() {
  const bar = useRef<HTMLDivElement>(null);
  const loading = useNavigation().state !== "idle";
  useEffect(() => {
    const element = bar.current;
    if (!loading || !element) return;
    let growing: Animation | undefined;
    const start = setTimeout(() => {
      element.dataset.state = "loading";
      growing = element.animate([{ scale: "0 1" }, { scale: "0.9 1" }], {
        duration,
        easing: "cubic-bezier(0.1, 0.7, 0.3, 1)",
        fill: "forwards",
      });
    }, throttle);
    return () => {
      clearTimeout(start);
      if (growing) finish(element, growing);
    };
  }, [loading]);
  return <div ref={bar} className="loading-bar" aria-hidden="true" />;
}

function finish(element: HTMLElement, growing: Animation): void {
  growing.cancel();
  element.dataset.state = "full";
  setTimeout(() => {
    if (element.dataset.state !== "full") return;
    element.dataset.state = "fading";
    setTimeout(() => {
      if (element.dataset.state === "fading") delete element.dataset.state;
    }, resetDelay);
  }, hideDelay);
}
