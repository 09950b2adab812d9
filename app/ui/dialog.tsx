import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Link, useNavigate } from "react-router";
import { Icon } from "./icon.tsx";
import { modalOpened } from "./modal-opened.ts";

type Props = {
  title: string;
  /** What lies under a dialog that is a route; */
  closeTo?: string;
  /** what closes one that is none. Without either only its own buttons do. */
  onClose?: () => void;
  kind?: "form" | "alert" | "panel";
  children: ReactNode;
};

const firstField = "input:not([type=hidden], [type=file]), select, textarea";
// Where the page stood before the first dialog was opened (seed §2).
const scrollKey = "tertulia-scroll";

/** A dialog: open in the server's page, modal once hydrated. The browser's top layer stacks them, the last one closes first. */
export function Dialog({ title, closeTo, onClose, kind = "form", children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const navigate = useNavigate();
  const titleId = useId();
  // As it was before anything in here took the focus.
  const [opener] = useState(() => (typeof document === "undefined" ? null : document.activeElement));
  useEffect(() => openModal(dialog.current, opener), [opener]);
  const closable = closeTo !== undefined || onClose !== undefined;
  const close = () => (onClose ? onClose() : closeTo && navigate(closeTo, { preventScrollReset: true, replace: true }));
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
          close();
        }}
        onClose={() => {
          // Pressed twice, Escape closes natively what is not to be closed by it.
          if (!closable) dialog.current?.showModal();
        }}
        onClick={(event) => {
          if (event.target === dialog.current && !closeToastAt(event)) close();
        }}
        onKeyDown={confirmOnEnter}
      >
        <div className="top">
          <h2 id={titleId}>{title}</h2>
          {closeTo && (
            <Link className="button quiet small only" to={closeTo} replace preventScrollReset>
              <Icon name="close" label="Cerrar" />
            </Link>
          )}
          {closable && !closeTo && (
            <button className="button quiet small only" type="button" onClick={close}>
              <Icon name="close" label="Cerrar" />
            </button>
          )}
        </div>
        {children}
      </dialog>
    </div>
  );
}

function openModal(dialog: HTMLDialogElement | null, opener: Element | null) {
  const begin = document.activeElement;
  const path = location.pathname;
  const first = document.querySelectorAll("dialog:modal").length === 0;
  if (first) localStorage.setItem(scrollKey, String(scrollY));
  // Only showModal makes the page behind inert; the server can't call it.
  dialog?.close();
  dialog?.showModal();
  // React focuses what has autoFocus, but leaves no attribute that showModal would go by.
  const focused = begin instanceof HTMLElement && dialog?.contains(begin) ? begin : undefined;
  // Without it showModal goes to what comes first, which closes it again.
  (focused ?? dialog?.querySelector<HTMLElement>(firstField))?.focus();
  document.dispatchEvent(new Event(modalOpened));
  return () => {
    // Back to what lay under it; another page begins at its top.
    if (first && path.startsWith(location.pathname)) scrollTo(0, Number(localStorage.getItem(scrollKey)));
    const known = opener instanceof HTMLElement && opener.isConnected && opener !== document.body;
    const back = known ? opener : document.querySelector<HTMLElement>(`a[href="${path}"]`);
    back?.focus({ preventScroll: true });
  };
}

/** Toasts stand above a dialog, but what is not in it can't be clicked: the click falls through to its backdrop. */
function closeToastAt({ clientX, clientY }: { clientX: number; clientY: number }): boolean {
  const toast = [...document.querySelectorAll(".toast")].find((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
  });
  toast?.querySelector("button")?.click();
  return toast !== undefined;
}

/** Where the focus is on nothing that has an Enter of its own, it presses the dialog's submit button. */
function confirmOnEnter(event: KeyboardEvent<HTMLDialogElement>) {
  if (event.key !== "Enter" || (event.target as Element).closest("a, button, input, textarea, select, summary")) return;
  event.preventDefault();
  event.currentTarget.querySelector("form")?.requestSubmit();
}

/** The foot of a dialog: «Cancelar» on the left of what it is for. */
export function DialogFoot({ cancelTo, children }: { cancelTo: string; children: ReactNode }) {
  return (
    <div className="foot">
      <Link className="button quiet" to={cancelTo} replace preventScrollReset>
        Cancelar
      </Link>{" "}
      {children}
    </div>
  );
}
