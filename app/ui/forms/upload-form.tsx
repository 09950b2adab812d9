import type { ReactNode } from "react";
import { limits } from "../../process/limits.ts";
import type { FormResult } from "../../web/forms/form.server.ts";
import { Field } from "./field.tsx";
import { Fields } from "./fields.tsx";
import { PostForm } from "./post-form.tsx";

/** Documents and the button that sends them. */
export function UploadForm({ result }: { result: FormResult | undefined }) {
  return (
    <PostForm className="fields" encType="multipart/form-data" preventScrollReset>
      <DocumentFields result={result} />
      <div>
        <button type="submit" className="button">
          Subir
        </button>
      </div>
    </PostForm>
  );
}

const kinds =
  "Imágenes PNG, JPEG, WebP, GIF, AVIF, HEIC, TIFF o BMP de hasta 10 MB. De hasta 20 MB: PDF; documentos, hojas de cálculo y presentaciones de Office o LibreOffice; EPUB, RTF, correos EML y MSG, páginas HTML, texto y código. Un ZIP de hasta 100 MB se abre, y se guarda lo que lleva.";

/** Form for documents: files, with kinds and sizes said before, or a page of the web. */
export function DocumentFields({ result }: { result: FormResult | undefined }) {
  return (
    <UploadField result={result} label="Archivos" hint={kinds} required={false} multiple>
      <Field
        name="address"
        label="O la dirección de una página"
        hint="De una página de internet se guarda su artículo, sin menús ni anuncios."
        inputMode="url"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={limits.address}
      />
    </UploadField>
  );
}

type Props = {
  /** Prefix of ids, where a page has several. */
  id?: string;
  result: FormResult | undefined;
  label: string;
  hint: string;
  /** Media types that are offered to be chosen. */
  accept?: string;
  multiple?: boolean;
  required?: boolean;
  children?: ReactNode;
};

// Without it, as where the line has gone, the form is sent all the same.
const prepare = () =>
  import("./upload-progress.ts").then(
    ({ tellProgress }) => tellProgress(),
    () => {},
  );

/** The field of files, for forms with buttons of their own. */
export function UploadField(props: Props) {
  const { id = "subida", result, label, hint, accept, multiple = false, required = true, children } = props;
  const error = result?.errors.files;
  return (
    <Fields id={id} result={result}>
      <div className="field">
        <label htmlFor={`${id}-files`}>{label}</label>
        <p className="hint" id={`${id}-files-hint`}>
          {hint}
        </p>
        <input
          className="input"
          id={`${id}-files`}
          type="file"
          name="files"
          accept={accept}
          multiple={multiple}
          required={required}
          onChange={prepare}
          aria-invalid={error ? true : undefined}
          aria-describedby={`${id}-files-hint`}
        />
      </div>
      {children}
    </Fields>
  );
}
