import { Dialog, DialogFoot } from "../../ui/dialog.tsx";
import { PostForm } from "../../ui/post-form.tsx";

/** Asks before several are deleted. */
export function SureDialog({ ids, here }: { ids: string[]; here: string }) {
  return (
    <Dialog title={ids.length === 1 ? "Eliminar uno" : `Eliminar ${ids.length}`} closeTo={here} kind="alert">
      <PostForm className="contents">
        <input type="hidden" name="intent" value="delete" />
        <input type="hidden" name="sure" value="1" />
        {ids.map((id) => (
          <input key={id} type="hidden" name="item" value={id} />
        ))}
        <div className="body">
          <p>Se borrarán con todo lo que es suyo. No se puede deshacer.</p>
        </div>
        <DialogFoot cancelTo={here}>
          {/* biome-ignore lint/a11y/noAutofocus: Enter confirms an alert */}
          <button type="submit" className="button danger sure" autoFocus>
            Confirmar
          </button>
        </DialogFoot>
      </PostForm>
    </Dialog>
  );
}
