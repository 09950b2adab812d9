import { AlertDialog } from "./alert-dialog.tsx";

type Props = {
  title: string;
  /** Warning about the loss. */
  warning: string;
  /** The field that carries the ids. */
  name: string;
  ids: string[];
  closeTo: string;
};

/** Asks before several things are deleted: confirming sends the same form again, with `sure`. */
export function SureDialog({ title, warning, name, ids, closeTo }: Props) {
  return (
    <AlertDialog title={title} closeTo={closeTo}>
      <input type="hidden" name="intent" value="delete" />
      <input type="hidden" name="sure" value="1" />
      {ids.map((id) => (
        <input key={id} type="hidden" name={name} value={id} />
      ))}
      <p>{warning}</p>
    </AlertDialog>
  );
}
