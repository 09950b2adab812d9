import { useEffect, useRef, useState } from "react";
import type { Flash } from "../../web/session.server.ts";
import { looks } from "../callout.tsx";
import { Icon } from "../icon.tsx";
import { modalOpened } from "./modal-opened.ts";

export type ToastMessage = Flash & {
  /** A button in the toast, such as «Deshacer». */
  action?: { label: string; run(): void };
  /** Called once the toast has disappeared. */
  onGone?(): void;
};

// In ms.
export const shownFor = 5000;
export const tick = 50;
export const leavesIn = 300;

/** A message that disappears by itself, unless the pointer or the focus is on it. */
export default function Toast({ message, onGone }: { message: ToastMessage; onGone(id: string): void }) {
  const { className, icon } = looks[message.type];
  const { timed, bar, leaving, setLeaving, setPaused } = useLeaving(message, onGone);
  const pause = () => setPaused(true);
  const goOn = () => setPaused(false);
  const toast = useRef<HTMLDivElement>(null);
  useEffect(() => keepOnTop(toast.current), []);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: nothing to operate; who reads it stops its time
    <div
      ref={toast}
      className={`toast ${className}`}
      data-leaving={leaving || undefined}
      onPointerEnter={pause}
      onPointerLeave={goOn}
      onFocus={pause}
      onBlur={goOn}
    >
      <Icon name={icon} />
      <div>
        <p>{message.title}</p>
        {message.description && <p>{message.description}</p>}
      </div>
      {message.action && (
        <button
          className="button small"
          type="button"
          onClick={() => {
            message.action?.run();
            setLeaving(true);
          }}
        >
          {message.action.label}
        </button>
      )}
      <button className="button quiet small only" type="button" onClick={() => setLeaving(true)}>
        <Icon name="close" label="Cerrar aviso" />
      </button>
      {timed && <div className="left" ref={bar} aria-hidden="true" />}
    </div>
  );
}

/** Lifts the region of a toast above the page and above the dialogs that open, as long as the toast is there. */
function keepOnTop(toast: HTMLElement | null): (() => void) | undefined {
  const region = toast?.closest<HTMLElement>(".toasts");
  if (!region) return;
  const toTop = () => {
    if (region.matches(":popover-open")) region.hidePopover();
    region.showPopover();
  };
  // Without a script a popover would be invisible, so the region becomes a popover here.
  region.popover = "manual";
  toTop();
  document.addEventListener(modalOpened, toTop);
  return () => document.removeEventListener(modalOpened, toTop);
}

/** Counts the time of a message down and takes it away, `leavesIn` after it has begun to leave. */
function useLeaving(message: ToastMessage, onGone: (id: string) => void) {
  const duration = message.duration ?? shownFor;
  const timed = duration > 0;
  const [paused, setPaused] = useState(false);
  const [leaving, setLeaving] = useState(false);
  const remaining = useRef(duration);
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!timed || paused || leaving) return;
    const timer = setInterval(() => {
      remaining.current -= tick;
      if (bar.current) bar.current.style.scale = `${Math.max(0, remaining.current / duration)} 1`;
      if (remaining.current <= 0) setLeaving(true);
    }, tick);
    return () => clearInterval(timer);
  }, [timed, paused, leaving, duration]);
  useEffect(() => {
    if (!leaving) return;
    const timer = setTimeout(() => {
      onGone(message.id);
      message.onGone?.();
    }, leavesIn);
    return () => clearTimeout(timer);
  }, [leaving, message, onGone]);
  return { timed, bar, leaving, setLeaving, setPaused };
}
