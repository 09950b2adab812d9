import { Suspense, useCallback, useEffect, useState } from "react";
import { lazily } from "../lazily.ts";
import type { ToastMessage } from "./toast.tsx";

const Toast = lazily(() => import("./toast.tsx"), BareToast);

let tell: (message: ToastMessage) => void = () => {};

let lastId = 0;

/** Shows a message that comes from no page of the server. Its id is a number: pages at a plain http address can't make a UUID. */
export const showToast = (message: Omit<ToastMessage, "id">) => tell({ ...message, id: `aviso-${++lastId}` });

/**
 * Shows the server's flash message and toasts of the browser: without script as a notice in the page, with script above it.
 * There are two live regions: errors are announced at once, other messages after what is being read.
 */
export function Toasts({ message }: { message: ToastMessage | undefined }) {
  const [shown, setShown] = useState<ToastMessage[]>(message ? [message] : []);
  useEffect(() => {
    if (message) setShown((before) => (before.some(({ id }) => id === message.id) ? before : [...before, message]));
  }, [message]);
  useEffect(() => {
    tell = (told) => setShown((before) => [...before, told]);
  }, []);
  const remove = useCallback((id: string) => setShown((before) => before.filter((toast) => toast.id !== id)), []);
  const list = (errors: boolean) =>
    shown
      .filter(({ type }) => (type === "error") === errors)
      .map((toast) => (
        <Suspense key={toast.id}>
          <Toast message={toast} onGone={remove} />
        </Suspense>
      ));
  return (
    <section className="toasts" aria-label="Avisos">
      <div aria-live="polite">{list(false)}</div>
      <div aria-live="assertive">{list(true)}</div>
    </section>
  );
}

/** A message that stays, in place of `Toast` if that could not be loaded. */
function BareToast({ message }: { message: ToastMessage }) {
  return <p className="toast">{message.title}</p>;
}
