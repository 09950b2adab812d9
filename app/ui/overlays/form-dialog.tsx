import type { ComponentProps, ReactNode } from "react";
import { PostForm } from "../forms/post-form.tsx";
import { Dialog, DialogFoot } from "./dialog.tsx";

type Props = Omit<ComponentProps<typeof PostForm>, "title" | "className"> & {
  title: string;
  /** The page below the dialog. */
  closeTo: string;
  kind?: "form" | "alert";
  /** Label of the button that sends it; an alert confirms something that can't be undone. */
  submit?: string;
  children: ReactNode;
};

/** A dialog with one form, which is sent or left. */
export function FormDialog({ title, closeTo, kind = "form", submit, children, ...form }: Props) {
  const [word, look] = kind === "alert" ? ["Confirmar", "button danger sure"] : ["Guardar", "button primary"];
  return (
    <Dialog title={title} closeTo={closeTo} kind={kind}>
      <PostForm className="contents" {...form}>
        <div className="body fields">{children}</div>
        <DialogFoot cancelTo={closeTo}>
          <button type="submit" className={look}>
            {submit ?? word}
          </button>
        </DialogFoot>
      </PostForm>
    </Dialog>
  );
}
