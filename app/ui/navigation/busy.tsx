import { useEffect, useRef } from "react";
import { useBeforeUnload, useBlocker, useFetchers, useNavigation } from "react-router";

// In ms: as long as the loading bar waits.
export const throttle = 200;
export const cannotLeave = "No puedes salir mientras esta procesando.";

/** While a form is being sent: warns before leaving, and after a moment covers the page until the response arrives. */
export function Busy() {
  const navigation = useNavigation();
  const fetching = useFetchers().some(({ state }) => state === "submitting");
  const sending = navigation.state === "submitting";
  useLeaveGuard(sending || fetching);
  const cover = useRef<HTMLDivElement>(null);
  // The composer and «Probar» show their own progress.
  const covers = sending && !navigation.formData?.has("writtenBy") && !navigation.formData?.has("test");
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

/** Counts uploads that are not sent by the router. */
export function uploading(more: 1 | -1): void {
  uploads += more;
}

function useLeaveGuard(sending: boolean): void {
  useBeforeUnload((event) => {
    if (sending || uploads > 0) event.preventDefault();
  });
  // The form itself navigates to the same path; only a navigation to another path would lose what is being sent.
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
