import { limits } from "../../../process/limits.ts";
import { Field, SelectField } from "../../../ui/forms/field.tsx";

// In hours.
const durations = [
  { id: "1", name: "1 hora" },
  { id: "2", name: "2 horas" },
  { id: "4", name: "4 horas" },
  { id: "24", name: "1 día" },
  { id: "168", name: "1 semana" },
  { id: "720", name: "30 días" },
];

type Bounds = { people: number; messages: number; budget: number | null };

/** Fields for how long a room lasts from now on, and for its limits. `kept`: label of the choice that leaves its end as it is. */
export function RoomFields({ room, kept }: { room?: Bounds; kept?: string }) {
  return (
    <>
      <SelectField
        name="hours"
        label="Se puede preguntar durante"
        choices={durations}
        {...(kept ? { none: kept } : { defaultValue: "2" })}
      />
      <Field
        name="people"
        label="Personas, como mucho"
        inputMode="numeric"
        required
        defaultValue={room?.people ?? 30}
        hint={`Hasta ${limits.roomPeople}. Quien sale y vuelve a entrar cuenta otra vez.`}
        maxLength={5}
      />
      <Field
        name="messages"
        label="Preguntas entre todas, como mucho"
        inputMode="numeric"
        required
        defaultValue={room?.messages ?? 600}
        maxLength={7}
      />
      <Field
        name="budget"
        label="Puede costar, como mucho"
        hint="En la moneda de los precios del modelo. Al llegar se acaba lo que se esté escribiendo, y no se pregunta más. Vacío: lo que dé tu plan, en el que cuenta todo."
        inputMode="decimal"
        defaultValue={room?.budget?.toLocaleString("es", { useGrouping: false, maximumFractionDigits: 6 }) ?? ""}
        maxLength={20}
      />
    </>
  );
}
