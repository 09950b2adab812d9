import { useCallback, useEffect, useRef, useState } from "react";
import { modalOpened } from "./modal-opened.ts";
import { Toast, type ToastMessage } from "./toast.tsx";

let tell: (message: ToastMessage) => void = () => {};

/** Says something that no page of the server's said. */
export const showToast = (message: Omit<ToastMessage, "id">) => tell({ ...message, id: crypto.randomUUID() });

/**
 * What the server has to say, flashed with the page: a notice in the page without a script, a toast with one. Two live
 * regions: errors interrupt, the rest waits.
 */
export function Toasts({ message }: { message: ToastMessage | undefined }) {
  const [shown, setShown] = useState<ToastMessage[]>(message ? [message] : []);
  useEffect(() => {
    if (message) setShown((before) => (before.some(({ id }) => id === message.id) ? before : [...before, message]));
  }, [message]);
  useEffect(() => {
    tell = (told) => setShown((before) => [...before, told]);
  }, []);
  const region = useRef<HTMLElement>(null);
  useEffect(() => {
    const element = region.current;
    if (shown.length === 0 || !element) return;
    const toTop = () => {
      if (element.matches(":popover-open")) element.hidePopover();
      element.showPopover();
    };
    // Without a script a popover would not be seen at all, so it becomes one here.
    element.popover = "manual";
    toTop();
    document.addEventListener(modalOpened, toTop);
    return () => document.removeEventListener(modalOpened, toTop);
  }, [shown.length]);
  const remove = useCallback((id: string) => setShown((before) => before.filter((toast) => toast.id !== id)), []);
  const list = (errors: boolean) =>
    shown
      .filter(({ type }) => (type === "error") === errors)
      .map((toast) => <Toast key={toast.id} message={toast} onGone={remove} />);
  return (
    <section ref={region} className="toasts" aria-label="Avisos">
      <div aria-live="polite">{list(false)}</div>
      <div aria-live="assertive">{list(true)}</div>
    </section>
  );
}
