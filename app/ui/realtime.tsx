import { useEffect, useRef } from "react";
import { useFetchers, useNavigation, useRevalidator } from "react-router";
import { forgetSeen } from "./pages-seen.ts";
import { refresh } from "./revisits.tsx";

// For browsers that do not say when they have nothing to do (Safari).
const later = 1000;

/** Keeps what is shown as it is on the server: a connection, opened once the page is at rest, says that something changed. */
export function Realtime() {
  const { revalidate } = useRevalidator();
  const navigation = useNavigation();
  const fetchers = useFetchers();
  const busy = navigation.state !== "idle" || fetchers.some(({ state }) => state !== "idle");
  // What this page itself writes is told to it, too; asked for in the middle, the answer would take its notice away.
  const resting = useRef(true);
  const missed = useRef(false);
  const update = useRef(() => {});
  update.current = () => {
    missed.current = !resting.current || document.hidden;
    if (missed.current) return;
    forgetSeen();
    void refresh(revalidate);
  };
  useEffect(() => {
    resting.current = !busy;
    if (!busy && missed.current) update.current();
  }, [busy]);
  useEffect(() => {
    let left = false;
    let close: (() => void) | undefined;
    const open = async () => {
      const { connect } = await import("./socket.ts");
      if (!left) close = connect(() => update.current());
    };
    const wait = window.requestIdleCallback ?? ((work: () => void) => setTimeout(work, later));
    wait(open);
    const onShow = () => missed.current && update.current();
    document.addEventListener("visibilitychange", onShow);
    return () => {
      left = true;
      close?.();
      document.removeEventListener("visibilitychange", onShow);
    };
  }, []);
  return null;
}
