import type { ReactNode } from "react";
import { Link } from "react-router";
import { Dialog } from "../../../ui/overlays/dialog.tsx";

/** A secret that is shown once: only the dialog's own button closes it. */
export function ShownOnce({ title, done, children }: { title: string; done: string; children: ReactNode }) {
  return (
    <Dialog title={title}>
      <div className="body fields">{children}</div>
      <div className="foot">
        <Link className="button primary" to="/user/seguridad" preventScrollReset>
          {done}
        </Link>
      </div>
    </Dialog>
  );
}
