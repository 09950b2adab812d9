import type { ReactNode } from "react";
import { PostForm } from "../forms/post-form.tsx";
import { Dialog, DialogFoot } from "./dialog.tsx";

type Props = { title: string; closeTo: string; children: ReactNode };

/** A question before something is done that can't be undone: «Confirmar» sends its form. */
export function AlertDialog({ title, closeTo, children }: Props) {
  return (
    <Dialog title={title} closeTo={closeTo} kind="alert">
      <PostForm className="contents">
        <div className="body">{children}</div>
        <DialogFoot cancelTo={closeTo}>
          {/* biome-ignore lint/a11y/noAutofocus: Enter confirms an alert */}
          <button type="submit" className="button danger sure" autoFocus>
            Confirmar
          </button>
        </DialogFoot>
      </PostForm>
    </Dialog>
  );
}
