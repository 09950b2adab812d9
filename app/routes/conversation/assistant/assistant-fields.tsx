import { limits } from "../../../process/limits.ts";
import { Field, SelectField, TextField } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import type { FormResult } from "../../../web/forms/form.server.ts";
import type { choicesFor } from "./assistant-form.server.ts";
import { Checks, Sharing } from "./sharing.tsx";

type Values = {
  name: string;
  purpose: string;
  instructions: string;
  modelId: string | null;
  temperature: number | null;
  toolIds: string[] | null;
  fileIds: string[];
  beginnings: string[];
  shared: boolean;
  groupIds: string[] | null;
};

type Props = {
  assistant?: Values;
  choices: Awaited<ReturnType<typeof choicesFor>>;
  result: FormResult | undefined;
};

/** Fields of an assistant, for creating and changing it. */
export function AssistantFields({ assistant, choices, result }: Props) {
  const { models, tools, files, mayShare } = choices;
  return (
    <Fields id="asistente" result={result}>
      <Field name="name" label="Nombre" required maxLength={limits.name} defaultValue={assistant?.name} autoFocus />
      <Field name="purpose" label="Para qué es" maxLength={limits.assistantPurpose} defaultValue={assistant?.purpose} />
      <TextField
        name="instructions"
        label="Instrucciones"
        hint="El modelo las recibe en todas las conversaciones con este asistente."
        maxLength={limits.projectInstructions}
        defaultValue={assistant?.instructions}
      />
      <SelectField
        name="modelId"
        label="Modelo"
        choices={models}
        none="El predeterminado"
        defaultValue={assistant?.modelId ?? ""}
      />
      <Field
        name="temperature"
        label="Temperatura, de 0 a 2"
        hint="Vacía: la del modelo."
        inputMode="decimal"
        defaultValue={assistant?.temperature ?? ""}
      />
      <TextField
        name="beginnings"
        label="Comienzos"
        hint={`Hasta ${limits.assistantBeginnings}, uno en cada línea: se ofrecen al empezar una conversación.`}
        rows={4}
        defaultValue={assistant?.beginnings.join("\n")}
      />
      {tools.length > 0 && (
        <Checks
          legend="Herramientas que puede usar"
          name="toolIds"
          choices={tools}
          isOn={(id) => assistant?.toolIds?.includes(id) ?? true}
        />
      )}
      {files.length > 0 && (
        <Checks
          legend="Documentos tuyos en los que busca"
          name="fileIds"
          choices={files}
          isOn={(id) => assistant?.fileIds.includes(id) ?? false}
        />
      )}
      {mayShare && (
        <Sharing
          label="Para todos: cualquiera puede usarlo, y lo que encuentre en sus documentos lo puede leer cualquiera"
          of={assistant}
          groups={choices.groups}
        />
      )}
    </Fields>
  );
}
