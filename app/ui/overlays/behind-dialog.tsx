import type { ReactNode } from "react";

/** A page whose dialogs are routes of their own. While `dialog` is open, the page behind it can't be used. */
export function BehindDialog({ dialog, children }: { dialog: ReactNode; children: ReactNode }) {
  return (
    <>
      {dialog}
      <div className="contents" inert={Boolean(dialog)}>
        {children}
      </div>
    </>
  );
}
