import type { ChangeEvent } from "react";
import { Icon } from "../../../ui/icon.tsx";
import type { ComposerFile } from "../../../web/forms/uploads.server.ts";

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

/** The files of a composer where their list could not be loaded. */
export function Names({ files }: { files: ComposerFile[] }) {
  return <p className="hint">{files.map(({ name }) => name).join(", ")}</p>;
}
