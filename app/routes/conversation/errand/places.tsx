import { SelectField } from "../../../ui/forms/field.tsx";
import { placeNameOf, type placeNames } from "./errand-words.ts";

type Props = {
  models: { id: string; name: string; isDefault: boolean }[];
  modelId?: string | undefined;
  looksIn?: ("web" | "documents")[];
};
const words: Record<(typeof placeNames)[number], string> = {
  both: "En la web y en mis documentos",
  web: "Solo en la web",
  documents: "Solo en mis documentos",
};

/** Fields for the places in which an errand looks, and for its model. */
export function Places({ models, modelId, looksIn }: Props) {
  const now = looksIn ? placeNameOf(looksIn) : "both";
  return (
    <>
      <SelectField
        name="looksIn"
        label="Dónde se busca"
        defaultValue={now}
        choices={Object.entries(words).map(([id, name]) => ({ id, name }))}
      />
      <SelectField
        name="modelId"
        label="Modelo"
        defaultValue={modelId ?? models.find(({ isDefault }) => isDefault)?.id}
        choices={models}
      />
    </>
  );
}
