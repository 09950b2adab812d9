import { type ReactNode, useEffect, useRef } from "react";
import { Link, useNavigate } from "react-router";
import { Icon } from "./icon.tsx";

type Props = { title: string; closeTo: string; alert?: boolean; children: ReactNode };

/** A dialog that is a route: open in the server's page, modal once hydrated. `closeTo` is what lies under it. */
export function Dialog({ title, closeTo, alert, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const navigate = useNavigate();
  useEffect(() => {
    const element = dialog.current;
    // Only showModal makes the page behind inert; the server can't call it.
    element?.close();
    element?.showModal();
  }, []);
  const close = () => navigate(closeTo, { preventScrollReset: true });
  return (
    <div className="overlay">
      <Link className="backdrop" to={closeTo} tabIndex={-1} aria-hidden="true" />
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: Escape is the key, as onCancel */}
      <dialog
        ref={dialog}
        className="dialog"
        open
        role={alert ? "alertdialog" : undefined}
        aria-labelledby="dialog-title"
        onCancel={(event) => {
          event.preventDefault();
          close();
        }}
        onClick={(event) => {
          if (event.target === dialog.current) close();
        }}
      >
        <div className="top">
          <h2 id="dialog-title">{title}</h2>
          <Link className="button quiet small only" to={closeTo}>
            <Icon name="close" label="Cerrar" />
          </Link>
        </div>
        {children}
      </dialog>
    </div>
  );
}
