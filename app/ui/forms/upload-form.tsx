import type { FormResult } from "../../web/forms/form.server.ts";
import { Fields } from "./fields.tsx";
import { PostForm } from "./post-form.tsx";

/** Files and the button that sends them, kinds and sizes said before. */
export function UploadForm({ result }: { result: FormResult | undefined }) {
  return (
    <PostForm className="fields" encType="multipart/form-data" preventScrollReset>
      <UploadField result={result} />
      <div>
        <button type="submit" className="button">
          Subir
        </button>
      </div>
    </PostForm>
  );
}

const kinds =
  "Imágenes PNG, JPEG, WebP, GIF o AVIF de hasta 10 MB. De hasta 20 MB: PDF; documentos, hojas de cálculo y presentaciones de Office o LibreOffice; EPUB, RTF, correos EML, páginas HTML, texto y código. Un ZIP de hasta 100 MB se abre, y se guarda lo que lleva.";

type Props = { result: FormResult | undefined; label?: string; hint?: string; multiple?: boolean };

/** The field of it, for forms with buttons of their own. */
export function UploadField({ result, label = "Archivos", hint = kinds, multiple = true }: Props) {
  const error = result?.errors.files;
  return (
    <Fields id="subida" result={result}>
      <div className="field">
        <label htmlFor="subida-files">{label}</label>
        <p className="hint" id="subida-files-hint">
          {hint}
        </p>
        <input
          className="input"
          id="subida-files"
          type="file"
          name="files"
          multiple={multiple}
          required
          aria-invalid={error ? true : undefined}
          aria-describedby="subida-files-hint"
        />
      </div>
    </Fields>
  );
}
