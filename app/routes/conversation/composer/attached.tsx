import type { ChangeEvent } from "react";
import { AttachedFile } from "../../../ui/forms/attached-file.tsx";
import { Icon } from "../../../ui/icon.tsx";
import type { ComposerFile } from "../../../web/forms/uploads.server.ts";
import type { Progress } from "./upload.ts";

type List = { files: ComposerFile[]; progress: Progress | undefined; remove(id: string): void };

/** The files that wait with the text of a composer, and the one on its way. */
export function AttachedList({ files, progress, remove }: List) {
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

/** Chooses files; without a script «Subir» sends them ahead of the message. */
export function FileChooser({ choose }: { choose(event: ChangeEvent<HTMLInputElement>): void }) {
  return (
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
  );
}
