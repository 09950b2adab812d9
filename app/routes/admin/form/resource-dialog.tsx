import type { ComponentProps } from "react";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { Dialog, DialogFoot } from "../../../ui/overlays/dialog.tsx";
import { ResourceFields } from "./resource-form.tsx";

type Props = ComponentProps<typeof ResourceFields> & {
  title: string;
  closeTo: string;
  /** The version of the item that is edited, for the optimistic lock. */
  version?: string;
};

/** The dialog in which an item is created or edited. */
export function ResourceDialog({ title, closeTo, version, ...form }: Props) {
  return (
    <Dialog title={title} closeTo={closeTo}>
      <PostForm className="contents" preventScrollReset>
        {version !== undefined && <input type="hidden" name="version" value={version} />}
        {/* Enter activates the first submit button of a form: it must be this one, not «Vista previa» or «Buscar». */}
        <button type="submit" className="sr-only" tabIndex={-1} aria-hidden="true">
          Guardar
        </button>
        <div className="body fields">
          <ResourceFields {...form} />
        </div>
        <DialogFoot cancelTo={closeTo}>
          <button type="submit" className="button primary">
            Guardar
          </button>
        </DialogFoot>
      </PostForm>
    </Dialog>
  );
}
