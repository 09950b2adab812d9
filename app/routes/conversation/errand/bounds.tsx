import { limits } from "../../../process/limits.ts";
import { Field, SelectField } from "../../../ui/forms/field.tsx";

type Errand = { budget: number | null; stepsAtMost: number; minutesAtMost: number; notifies: boolean };

/** Fields for how far an errand may go, and whether its person is told of its end. */
export function Bounds({ errand }: { errand?: Errand }) {
  return (
    <>
      <Field
        name="stepsAtMost"
        label="Pasos, como mucho"
        hint={`Cada búsqueda, cada lectura y cada parte que se escribe es uno. Hasta ${limits.errandSteps}.`}
        defaultValue={errand?.stepsAtMost ?? 60}
        inputMode="numeric"
        maxLength={6}
      />
      <Field
        name="minutesAtMost"
        label="Minutos de trabajo, como mucho"
        hint={`Hasta ${limits.errandMinutes}.`}
        defaultValue={errand?.minutesAtMost ?? 60}
        inputMode="numeric"
        maxLength={6}
      />
      <Field
        name="budget"
        label="Puede costar, como mucho"
        hint="En la moneda de los precios del modelo. Vacío: lo que dé tu plan."
        defaultValue={errand?.budget?.toLocaleString("es", { useGrouping: false, maximumFractionDigits: 6 }) ?? ""}
        inputMode="decimal"
        maxLength={20}
      />
      <SelectField
        name="notifies"
        label="Cuando acabe, o espere algo de ti"
        defaultValue={errand?.notifies ? "si" : ""}
        choices={[
          { id: "", name: "No me avises" },
          { id: "si", name: "Avísame por correo" },
        ]}
      />
    </>
  );
}
