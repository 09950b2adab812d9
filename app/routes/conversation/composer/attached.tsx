import { type ChangeEvent, type ClipboardEvent, type DragEvent, useEffect, useRef, useState } from "react";
import { AttachedFile } from "../../../ui/forms/attached-file.tsx";
import { Icon } from "../../../ui/icon.tsx";
import type { ComposerFile } from "../../../web/forms/uploads.server.ts";
import type { Progress } from "./upload.ts";

/**
 * The files of a composer: those that wait with its text, and what a script adds: progress, pasting, dropping. `initial`
 * are those of the draft, `answered` those that the server has just answered with; what it says counts.
 */
export function useAttached(initial: ComposerFile[], answered: ComposerFile[] | undefined, onChange: () => void) {
  const [files, setFiles] = useState(answered ?? initial);
  const [progress, setProgress] = useState<Progress>();
  const [refused, setRefused] = useState<string>();
  const [known, setKnown] = useState(answered);
  const room = useRef<HTMLDivElement>(null);
  if (answered && answered !== known) {
    setKnown(answered);
    setFiles(answered);
  }
  const ids = idsOf(files);
  const before = useRef(ids);
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the files have changed
  useEffect(() => {
    if (ids !== before.current) onChange();
    before.current = ids;
  }, [ids]);
  const sending = useRef({ count: 0, last: Promise.resolve() });
  const taken = useRef(files.length);
  useEffect(() => {
    taken.current = files.length;
  }, [files.length]);

  const send = async (form: HTMLFormElement, sent: File[]) => {
    const { upload } = await import("./upload.ts");
    const answer = await upload(sent, { form, taken: taken.current, onProgress: setProgress });
    taken.current += answer.files.length;
    setFiles((others) => [...others, ...answer.files]);
    if (answer.refused.length > 0) setRefused(answer.refused.join(" "));
  };
  const add = (sent: File[]) => {
    const form = room.current?.closest("form");
    const [first] = sent;
    if (!first || !form) return;
    // Said at once, so that a message sent right now waits for them.
    setProgress({ name: first.name, part: 0 });
    setRefused(undefined);
    sending.current.count++;
    sending.current.last = sending.current.last
      .then(() => send(form, sent))
      .catch(() => setRefused("No se ha podido subir. Inténtalo otra vez."))
      .finally(() => {
        sending.current.count--;
        if (sending.current.count === 0) setProgress(undefined);
      });
  };
  const choose = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    const sent = [...(currentTarget.files ?? [])];
    currentTarget.value = "";
    add(sent);
  };
  const take = (event: ClipboardEvent | DragEvent, from: DataTransfer) => {
    // Spreadsheets and word processors put an image of the copied cells or text beside the text; the text is wanted.
    if (from.files.length === 0 || from.types.includes("text/plain")) return;
    event.preventDefault();
    add([...from.files]);
  };
  return {
    ids,
    refused,
    uploading: progress !== undefined,
    /** For what files may be pasted or dropped into. */
    receives: {
      ref: room,
      onPaste: (event: ClipboardEvent) => take(event, event.clipboardData),
      onDrop: (event: DragEvent) => take(event, event.dataTransfer),
      // Only what is allowed to be dragged over can be dropped.
      onDragOver: (event: DragEvent) => event.dataTransfer.types.includes("Files") && event.preventDefault(),
    },
    list: (
      <AttachedList
        files={files}
        progress={progress}
        remove={(id) => setFiles(files.filter((file) => file.id !== id))}
      />
    ),
    chooser: (
      <span className="attach">
        <label className="button quiet small">
          <Icon name="paperclip" />
          <span className="text">Adjuntar archivos</span>
          <input type="file" name="files" multiple onChange={choose} />
        </label>{" "}
        <button type="submit" className="button quiet small unscripted" name="intent" value="attach" formNoValidate>
          Subir
        </button>
      </span>
    ),
  };
}

const idsOf = (files: ComposerFile[]) => files.map(({ id }) => id).join(",");

type List = { files: ComposerFile[]; progress: Progress | undefined; remove(id: string): void };

function AttachedList({ files, progress, remove }: List) {
  if (files.length === 0 && !progress) return null;
  return (
    <ul className="attached">
      {files.map((file) => (
        <AttachedFile key={file.id} file={file} content={`/user/file/${file.id}/contenido`}>
          <button
            type="submit"
            className="button quiet small only"
            name="remove"
            value={file.id}
            formNoValidate
            onClick={(event) => {
              event.preventDefault();
              remove(file.id);
            }}
          >
            <Icon name="close" label={`Quitar ${file.name}`} />
          </button>
        </AttachedFile>
      ))}
      {progress && (
        <li className="attachment">
          <span className="chip" role="status">
            <Icon name="paperclip" />
            <span className="clip">{progress.name}</span>
            <progress value={progress.part} aria-label={`Subiendo ${progress.name}`} />
          </span>
        </li>
      )}
    </ul>
  );
}
