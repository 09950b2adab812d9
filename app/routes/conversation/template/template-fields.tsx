import { limits } from "../../../process/limits.ts";
import { Field, TextField } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import type { FormResult } from "../../../web/forms/form.server.ts";

type Props = {
  template?: { title: string; content: string; shared: boolean };
  mayShare: boolean;
  result: FormResult | undefined;
};

/** Fields of a template, for creating and changing it. */
export function TemplateFields({ template, mayShare, result }: Props) {
  return (
    <Fields id="plantilla" result={result}>
      <Field
        name="title"
        label="Título"
        required
        maxLength={limits.chatTitle}
        defaultValue={template?.title}
        autoFocus
      />
      <TextField
        name="content"
        label="Texto"
        hint="Lo que va entre llaves dobles, como {{ciudad}}, se pregunta al usarla."
        required
        rows={8}
        maxLength={limits.templateContent}
        defaultValue={template?.content}
      />
      {mayShare && (
        <label className="check">
          <input type="checkbox" name="shared" value="1" defaultChecked={template?.shared} />
          Para todos
        </label>
      )}
    </Fields>
  );
}
