import { useEffect, useRef } from "react";
import { useFetchers, useNavigation, useRevalidator } from "react-router";
import { forgetSeen } from "./pages-seen.ts";
import { stopLooking } from "./revisits.tsx";
import { isSending } from "./send-form.ts";
import { isWriting } from "./writing.ts";

// For browsers that do not say when they have nothing to do (Safari).
const later = 1000;
// How soon a page that has something else to do looks again.
const afterwards = 500;

/**
 * What this page itself writes is told to it, too. What is being written must not give way to a page that nobody asked for;
 * and an open dialog is from before the change, which its form says when it is sent. A page that nobody sees can wait as well.
 */
const mustWait = () =>
  isSending() || leaving || isWriting() || document.hidden || document.querySelector("dialog[open]") !== null;

// Another document is on its way; a download looks the same, and the page stays.
let leaving = false;
const leavesWithin = 5000;

/** Keeps what is shown as it is on the server: a connection, opened once the page is at rest, says that something changed. */
export function Realtime() {
  const { revalidate } = useRevalidator();
  const navigation = useNavigation();
  const fetchers = useFetchers();
  const busy = navigation.state !== "idle" || fetchers.some(({ state }) => state !== "idle");
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined);
  const update = useRef(() => {});
  update.current = () => {
    clearTimeout(waiting.current);
    if (busy || mustWait()) {
      waiting.current = setTimeout(() => update.current(), afterwards);
      return;
    }
    forgetSeen();
    stopLooking();
    revalidate().catch((error: Error) => {
      // The page was left meanwhile.
      if (error.name !== "AbortError") throw error;
    });
  };
  useEffect(() => {
    let left = false;
    let close: (() => void) | undefined;
    const open = async () => {
      const { connect } = await import("./socket.ts");
      if (!left) close = connect(() => update.current());
    };
    const wait = window.requestIdleCallback ?? ((work: () => void) => setTimeout(work, later));
    wait(open);
    const onLeave = () => {
      leaving = true;
      setTimeout(() => {
        leaving = false;
      }, leavesWithin);
    };
    addEventListener("beforeunload", onLeave);
    return () => {
      left = true;
      removeEventListener("beforeunload", onLeave);
      close?.();
      clearTimeout(waiting.current);
    };
  }, []);
  return null;
}
