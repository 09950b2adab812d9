import { type ChangeEvent, type ClipboardEvent, type DragEvent, useEffect, useRef, useState } from "react";
import { AttachedFile } from "../../ui/attached-file.tsx";
import { Icon } from "../../ui/icon.tsx";
import type { AttachedFile as Attached } from "../../uploads.server.ts";
import type { Progress } from "./upload.ts";

/** The files of a composer: those that wait with its text, and what a script adds: progress, pasting, dropping. */
export function useAttached(given: Attached[], onChange: () => void) {
  const [files, setFiles] = useState(given);
  const [progress, setProgress] = useState<Progress>();
  const [refused, setRefused] = useState<string>();
  const [known, setKnown] = useState(given);
  const room = useRef<HTMLDivElement>(null);
  // By their ids: the same answer of the server comes as new objects.
  if (idsOf(given) !== idsOf(known)) {
    setKnown(given);
    setFiles(given);
  }
  const ids = idsOf(files);
  const first = useRef(ids);
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the files have changed
  useEffect(() => {
    if (ids !== first.current) onChange();
    first.current = ids;
  }, [ids]);

  const add = async (sent: File[]) => {
    const form = room.current?.closest("form");
    if (sent.length === 0 || !form || progress) return;
    setRefused(undefined);
    const { upload } = await import("./upload.ts");
    const answer = await upload(sent, { form, taken: files.length, onProgress: setProgress });
    setProgress(undefined);
    setFiles((before) => [...before, ...answer.files]);
    setRefused(answer.refused.join(" ") || undefined);
  };
  const choose = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    const sent = [...(currentTarget.files ?? [])];
    currentTarget.value = "";
    void add(sent);
  };
  const take = (event: ClipboardEvent | DragEvent, from: DataTransfer) => {
    const sent = [...from.files];
    if (sent.length === 0) return;
    event.preventDefault();
    void add(sent);
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
          <input type="file" name="files" multiple onChange={choose} disabled={progress && true} />
        </label>{" "}
        <button type="submit" className="button quiet small unscripted" name="intent" value="attach" formNoValidate>
          Subir
        </button>
      </span>
    ),
  };
}

const idsOf = (files: Attached[]) => files.map(({ id }) => id).join(",");

type List = { files: Attached[]; progress: Progress | undefined; remove(id: string): void };

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
