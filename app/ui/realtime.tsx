import { useEffect, useRef } from "react";
import { useFetchers, useNavigation, useRevalidator } from "react-router";
import { forgetSeen } from "./pages-seen.ts";
import { refresh } from "./revisits.tsx";
import { isSending } from "./send-form.ts";

// For browsers that do not say when they have nothing to do (Safari).
const later = 1000;
// How soon a page that has something else to do looks again.
const afterwards = 500;

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
    // What this page itself writes is told to it, too. An open dialog is from before the change, and must be: its form says
    // so when it is sent. A page that nobody sees can wait till somebody does.
    if (busy || isSending() || document.hidden || document.querySelector("dialog[open]")) {
      waiting.current = setTimeout(() => update.current(), afterwards);
      return;
    }
    forgetSeen();
    // Something may have been sent while the server was asked whether it is there.
    void refresh(async () => (isSending() ? update.current() : revalidate()));
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
    return () => {
      left = true;
      close?.();
      clearTimeout(waiting.current);
    };
  }, []);
  return null;
}
