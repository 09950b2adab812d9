import { useEffect, useRef } from "react";
import { useBeforeUnload, useBlocker, useFetchers, useNavigation } from "react-router";
import { throttle } from "./loading-bar.tsx";

export const cannotLeave = "No puedes salir mientras esta procesando.";

/** While a form is being sent: nobody leaves by mistake, and after a moment the page is covered until the answer is there. */
export function Busy() {
  const navigation = useNavigation();
  const fetching = useFetchers().some(({ state }) => state === "submitting");
  const sending = navigation.state === "submitting";
  useLeaveGuard(sending || fetching);
  const cover = useRef<HTMLDivElement>(null);
  // The composer shows by itself that its message is on its way.
  const covers = sending && !navigation.formData?.has("content");
  useEffect(() => {
    if (!covers) return;
    const element = cover.current;
    const timer = setTimeout(() => element?.showPopover(), throttle);
    return () => {
      clearTimeout(timer);
      if (element?.matches(":popover-open")) element.hidePopover();
    };
  }, [covers]);
  return (
    <div ref={cover} className="busy" popover="manual" role="status">
      {covers && <p>Un momento…</p>}
    </div>
  );
}

let uploads = 0;

/** Counts files on their way, beside what the router sends itself. */
export function uploading(more: 1 | -1): void {
  uploads += more;
}

function useLeaveGuard(sending: boolean): void {
  useBeforeUnload((event) => {
    if (sending || uploads > 0) event.preventDefault();
  });
  // The form itself goes to where it is; only other places are somewhere else.
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      (sending || uploads > 0) && currentLocation.pathname !== nextLocation.pathname,
  );
  useEffect(() => {
    if (blocker.state !== "blocked") return;
    alert(cannotLeave);
    blocker.reset();
  }, [blocker]);
}
