import { useEffect, useState } from "react";
import { AttachedFile } from "../../../ui/forms/attached-file.tsx";
import { Icon } from "../../../ui/icon.tsx";
import type { ComposerFile } from "../../../web/forms/uploads.server.ts";
import type { ModelChoice } from "../models.server.ts";
import type { Progress } from "./upload.ts";

type Props = {
  files: ComposerFile[];
  progress: Progress | undefined;
  remove(id: string): void;
  models: ModelChoice[];
  /** Model that the page came with. */
  chosen: string | undefined;
};

/** The files that wait with the text of a composer, and the upload on its way. */
export default function AttachedList({ files, progress, remove, models, chosen }: Props) {
  const modelId = useChosen(chosen);
  const blind = models.find(({ id, seesImages }) => id === modelId && !seesImages);
  return (
    <>
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
      {blind && files.some(({ image }) => image) && (
        <p className="unseen" role="status">
          <Icon name="info" />
          {blind.name} no puede ver imágenes: no las recibirá.
        </p>
      )}
    </>
  );
}

/** The model that is chosen beside the text. */
function useChosen(first: string | undefined) {
  const [chosen, setChosen] = useState(first);
  useEffect(() => {
    const select = document.getElementById("modelo");
    if (!(select instanceof HTMLSelectElement)) return;
    const onChange = () => setChosen(select.value);
    select.addEventListener("change", onChange);
    return () => select.removeEventListener("change", onChange);
  }, []);
  return chosen;
}
