import type { FormResult } from "../form.server.ts";
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

/** The field of it, for forms with buttons of their own. */
export function UploadField({ result }: { result: FormResult | undefined }) {
  const error = result?.errors.files;
  return (
    <Fields id="subida" result={result}>
      <div className="field">
        <label htmlFor="subida-files">Archivos</label>
        <p className="hint" id="subida-files-hint">
          Imágenes PNG, JPEG, WebP, GIF o AVIF de hasta 10 MB; PDF, DOCX, texto y código de hasta 20 MB.
        </p>
        <input
          className="input"
          id="subida-files"
          type="file"
          name="files"
          multiple
          required
          aria-invalid={error ? true : undefined}
          aria-describedby="subida-files-hint"
        />
      </div>
    </Fields>
  );
}
