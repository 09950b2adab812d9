import { limits } from "../../../process/limits.ts";
import { Field, SelectField, TextField } from "../../../ui/forms/field.tsx";
import { choicesOf } from "../../../ui/forms/select.tsx";
import { kindWords } from "./kind-words.ts";

type Props = {
  artifact?: {
    title: string;
    kind: keyof typeof kindWords;
    language: string | null;
    text: string;
    projectId: string | null;
  };
  projects: { id: string; name: string }[];
};

/** Fields of an artifact, for creating and changing it. */
export function ArtifactFields({ artifact, projects }: Props) {
  return (
    <>
      <Field name="title" label="Título" required maxLength={limits.chatTitle} defaultValue={artifact?.title} />
      <TextField
        name="text"
        label="Texto"
        hint="Un texto admite Markdown; una tabla es un CSV con una primera fila de nombres."
        rows={24}
        maxLength={limits.artifact}
        defaultValue={artifact?.text}
      />
      <SelectField name="kind" label="Clase" choices={choicesOf(kindWords)} defaultValue={artifact?.kind ?? "text"} />
      <Field
        name="language"
        label="Lenguaje"
        hint="Solo de un programa: python, sql…"
        maxLength={40}
        defaultValue={artifact?.language ?? ""}
      />
      {projects.length > 0 && (
        <SelectField
          name="projectId"
          label="Proyecto"
          hint="Quienes están en él lo leen, y sus conversaciones lo encuentran."
          none="En ninguno"
          choices={projects}
          defaultValue={artifact?.projectId ?? ""}
        />
      )}
    </>
  );
}
