import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Link, useNavigate } from "react-router";
import { Icon } from "../icon.tsx";
import { modalOpened } from "./modal-opened.ts";

type Props = {
  title: string;
  /** Path of the page under a dialog that is a route; closing the dialog leads there. */
  closeTo?: string;
  /** For any other dialog: closes it. Without `closeTo` and `onClose`, only its own buttons close it. */
  onClose?: () => void;
  kind?: "form" | "alert" | "panel";
  children: ReactNode;
};

const firstField = "input:not([type=hidden]), select, textarea";
// Scroll position of the page before the first dialog was opened.
const scrollKey = "tertulia-scroll";

/** A dialog: open in the server's page, modal once hydrated. The browser's top layer stacks them, the last one closes first. */
export function Dialog({ title, closeTo, onClose, kind = "form", children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const navigate = useNavigate();
  const titleId = useId();
  // The element that had the focus before the dialog took it; it gets the focus back when the dialog closes.
  const [opener] = useState(() => (typeof document === "undefined" ? null : document.activeElement));
  useEffect(() => openModal(dialog.current, opener), [opener]);
  const closable = closeTo !== undefined || onClose !== undefined;
  const close = async () => {
    if (!mayLeave(dialog.current)) return;
    await fadeOut(dialog.current);
    if (onClose) onClose();
    else if (closeTo) await navigate(closeTo, { preventScrollReset: true, replace: true });
    // The dialog is still here if the page could not be left.
    if (dialog.current) delete dialog.current.dataset.leaving;
  };
  return (
    <div className="overlay">
      {closeTo && (
        <Link className="backdrop" to={closeTo} replace preventScrollReset tabIndex={-1} aria-hidden="true" />
      )}
      <dialog
        ref={dialog}
        className={kind === "panel" ? "dialog panel" : "dialog"}
        open
        role={kind === "alert" ? "alertdialog" : undefined}
        aria-labelledby={titleId}
        onCancel={(event) => {
          event.preventDefault();
          void close();
        }}
        onClickCapture={(event) => {
          // «Cancelar» and the cross ask as Escape does; without script they are links.
          if (!(event.target instanceof Element && event.target.closest("a[data-close]"))) return;
          event.preventDefault();
          void close();
        }}
        onClose={() => {
          // A second Escape closes a dialog natively although `cancel` was prevented. Open it again if it must stay.
          if (!closable) dialog.current?.showModal();
        }}
        onClick={(event) => {
          if (event.target === dialog.current && !closeToastAt(event)) void close();
        }}
        onKeyDown={confirmOnEnter}
      >
        <div className="top">
          <h2 id={titleId} tabIndex={-1}>
            {title}
          </h2>
          {closable && <Cross closeTo={closeTo} onClose={() => void close()} />}
        </div>
        {children}
      </dialog>
    </div>
  );
}

function Cross({ closeTo, onClose }: { closeTo: string | undefined; onClose: () => void }) {
  const look = "button quiet small only";
  return closeTo ? (
    <Link className={look} to={closeTo} replace preventScrollReset data-close>
      <Icon name="close" label="Cerrar" />
    </Link>
  ) : (
    <button className={look} type="button" onClick={onClose}>
      <Icon name="close" label="Cerrar" />
    </button>
  );
}

/** Whether the dialog may close. If text was typed into it, the person is asked first. */
function mayLeave(dialog: HTMLDialogElement | null): boolean {
  const fields = [...(dialog?.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("input, textarea") ?? [])];
  const written = fields.some(({ type, value, defaultValue }) => !untyped.has(type) && value !== defaultValue);
  return !written || confirm("¿Descartar lo escrito?");
}

async function fadeOut(dialog: HTMLDialogElement | null): Promise<void> {
  if (!dialog) return;
  dialog.dataset.leaving = "";
  await Promise.allSettled(dialog.getAnimations().map(({ finished }) => finished));
}

const untyped = new Set(["hidden", "checkbox", "radio", "file"]);

function openModal(dialog: HTMLDialogElement | null, opener: Element | null) {
  const begin = document.activeElement;
  const path = location.pathname;
  const first = document.querySelectorAll("dialog:modal").length === 0;
  if (first) localStorage.setItem(scrollKey, String(scrollY));
  // Only showModal makes the page behind inert; the server can't call it.
  dialog?.close();
  dialog?.showModal();
  // React focuses the element with autoFocus but does not set the attribute that showModal looks for.
  const focused = begin instanceof HTMLElement && dialog?.contains(begin) ? begin : undefined;
  // Otherwise showModal would focus the first control, which is the one that closes the dialog.
  const field = dialog?.querySelector<HTMLElement>(firstField) ?? dialog?.querySelector<HTMLElement>(".top > h2");
  (focused ?? field)?.focus();
  document.dispatchEvent(new Event(modalOpened));
  return () => {
    // Scrolls the page under the dialog back; another page begins at its top.
    if (first && path.startsWith(location.pathname)) scrollTo(0, Number(localStorage.getItem(scrollKey)));
    const known = opener instanceof HTMLElement && opener.isConnected && opener !== document.body;
    const back = known ? opener : document.querySelector<HTMLElement>(`a[href="${path}"]`);
    back?.focus({ preventScroll: true });
  };
}

/** A modal dialog makes toasts inert, so a click on a toast arrives at the dialog. Closes that toast; false if there is none. */
function closeToastAt({ clientX, clientY }: { clientX: number; clientY: number }): boolean {
  const toast = [...document.querySelectorAll(".toast")].find((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
  });
  toast?.querySelector("button")?.click();
  return toast !== undefined;
}

/** Submits the dialog's form on Enter, unless the focused element handles Enter itself. */
function confirmOnEnter(event: KeyboardEvent<HTMLDialogElement>) {
  const own = "a, button, input, textarea, select, summary";
  if (event.key !== "Enter" || (event.target instanceof Element && event.target.closest(own))) return;
  event.preventDefault();
  event.currentTarget.querySelector("form")?.requestSubmit();
}

type Foot = { cancelTo: string; word?: "Cancelar" | "Cerrar"; children?: ReactNode };

/** Foot of a dialog: the cancel link, left of its main buttons. */
export function DialogFoot({ cancelTo, word = "Cancelar", children }: Foot) {
  return (
    <div className="foot">
      <Link className="button quiet" to={cancelTo} replace preventScrollReset data-close>
        {word}
      </Link>{" "}
      {children}
    </div>
  );
}
