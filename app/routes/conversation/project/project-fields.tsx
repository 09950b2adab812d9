import { limits } from "../../../process/limits.ts";
import { Field, TextField } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import type { FormResult } from "../../../web/forms/form.server.ts";

type Values = { name: string; description: string; instructions: string };

/** Fields of a project, for creating and changing it. */
export function ProjectFields({ project, result }: { project?: Values; result: FormResult | undefined }) {
  return (
    <Fields id="proyecto" result={result}>
      <Field name="name" label="Nombre" required maxLength={limits.name} defaultValue={project?.name} autoFocus />
      <TextField
        name="description"
        label="Descripción"
        rows={2}
        maxLength={limits.projectDescription}
        defaultValue={project?.description}
      />
      <TextField
        name="instructions"
        label="Instrucciones"
        hint="El modelo las recibe en todas las conversaciones del proyecto."
        maxLength={limits.projectInstructions}
        defaultValue={project?.instructions}
      />
    </Fields>
  );
}
