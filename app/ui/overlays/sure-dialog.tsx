import { AlertDialog } from "../../../ui/overlays/alert-dialog.tsx";

/** Asks before several are deleted. */
export function SureDialog({ ids, here }: { ids: string[]; here: string }) {
  return (
    <AlertDialog title={ids.length === 1 ? "Eliminar uno" : `Eliminar ${ids.length}`} closeTo={here}>
      <input type="hidden" name="intent" value="delete" />
      <input type="hidden" name="sure" value="1" />
      {ids.map((id) => (
        <input key={id} type="hidden" name="item" value={id} />
      ))}
      <p>Se borrarán con todo lo que es suyo. No se puede deshacer.</p>
    </AlertDialog>
  );
}
