import { limits } from "../../../process/limits.ts";
import { Field, TextField } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import type { FormResult } from "../../../web/forms/form.server.ts";
import { Sharing } from "../assistant/sharing.tsx";
import type { sharingChoices } from "./skill-form.server.ts";

type Skill = { name: string; description: string; content: string; shared: boolean; groupIds: string[] | null };
type Props = {
  skill?: Skill;
  sharing: Awaited<ReturnType<typeof sharingChoices>>;
  result: FormResult | undefined;
};

/** Fields of a skill, for writing and changing it. */
export function SkillFields({ skill, sharing, result }: Props) {
  return (
    <Fields id="oficio" result={result}>
      <Field
        name="name"
        label="Nombre"
        hint="Queda en minúsculas y con guiones: «redactar-bandos»."
        required
        maxLength={200}
        defaultValue={skill?.name}
      />
      <TextField
        name="description"
        label="Para qué sirve y cuándo usarlo"
        hint="Es lo único que el modelo sabe de él hasta que lo abre: dilo con las palabras con que se le pedirá."
        required
        rows={3}
        maxLength={limits.skillDescription}
        defaultValue={skill?.description}
      />
      <TextField
        name="content"
        label="Cómo se hace"
        hint="En Markdown: pasos, formatos, ejemplos, lo que no se debe hacer."
        required
        rows={16}
        maxLength={limits.skillContent}
        defaultValue={skill?.content}
      />
      {sharing.mayShare && <Sharing label="Para todos" of={skill} groups={sharing.groups} />}
    </Fields>
  );
}
