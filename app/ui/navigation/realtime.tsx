import { useEffect, useRef } from "react";
import { useFetchers, useNavigation, useRevalidator } from "react-router";
import { isSending } from "../forms/send-form.ts";
import { isWriting } from "../forms/writing.ts";
import { forgetSeen } from "./pages-seen.ts";
import { stopLooking } from "./revisits.tsx";

// In ms, for browsers without requestIdleCallback (Safari).
const later = 1000;
// In ms, until a busy page tries again.
const afterwards = 500;
// In ms, until the connection's script is asked for again.
const openAgain = 5000;

/**
 * Whether a refresh has to wait. The page is also notified of its own writes; unsent text must not be lost to a refresh; an open
 * dialog keeps the version that it edits (the optimistic lock reports conflicts); a hidden page can wait.
 */
const mustWait = () =>
  isSending() || leaving || isWriting() || document.hidden || document.querySelector("dialog[open]") !== null;

// Set while another document loads. A download looks the same, so it is reset after a while.
let leaving = false;
const leavesWithin = 5000;

/** Refreshes the page when the server says that something changed. The connection is opened when the page is idle. */
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
      const socket = await import("./socket.ts").catch(() => undefined);
      if (left) return;
      if (socket) close = socket.connect(() => update.current());
      // The line has just broken, or the server is restarting.
      else setTimeout(open, openAgain);
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
