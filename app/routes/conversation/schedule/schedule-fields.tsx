import { useRouteLoaderData } from "react-router";
import { limits } from "../../../process/limits.ts";
import { Field, SelectField, TextField } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { Icon } from "../../../ui/icon.tsx";
import type { FormResult } from "../../../web/forms/form.server.ts";
import type { loader as shell } from "../../shell/layout.tsx";
import { ofAssistant } from "../composer/spoken-to.ts";
import { placeNameOf } from "../errand/errand-words.ts";
import { weekdays } from "./weekdays.ts";

type Schedule = {
  content: string;
  modelId: string | null;
  assistantId: string | null;
  days: number[];
  monthDay: number | null;
  looksIn: string[] | null;
  time: string;
  tells: boolean;
  enabled: boolean;
};
type Props = {
  schedule?: Schedule;
  zone: string;
  models: { id: string; name: string }[];
  tells: boolean;
  /** `days`: the days that were marked in a form that was refused. */
  result: (FormResult & { days?: number[] }) | undefined;
};

const errands = [
  { id: "both", name: "Un encargo: se busca en la web y en mis documentos, y se escribe un informe" },
  { id: "web", name: "Un encargo, solo con la web" },
  { id: "documents", name: "Un encargo, solo con mis documentos" },
];

// Time zones that are suggested, where Spanish is spoken; any other can be typed.
const zones = [
  "Europe/Madrid",
  "Atlantic/Canary",
  ...["Argentina/Buenos_Aires", "Asuncion", "Bogota", "Caracas", "Costa_Rica", "El_Salvador", "Guatemala", "Guayaquil"],
  ...["Havana", "La_Paz", "Lima", "Managua", "Mexico_City", "Montevideo", "New_York", "Panama", "Puerto_Rico"],
  ...["Santiago", "Santo_Domingo", "Tegucigalpa"],
].map((name) => (name.includes("/") && !name.startsWith("Argentina") ? name : `America/${name}`));

const last = "31";
const monthDays = [
  ...Array.from({ length: 28 }, (_, before) => ({ id: String(before + 1), name: `El ${before + 1}` })),
  { id: last, name: "El último" },
];

/** Fields of a scheduled question, for creating and changing it. */
export function ScheduleFields({ schedule, zone, models, tells, result }: Props) {
  const { assistants = [] } = useRouteLoaderData<typeof shell>("routes/shell/layout") ?? {};
  const spokenTo = schedule?.assistantId ? ofAssistant(schedule.assistantId) : schedule?.modelId;
  const isSet = (name: string, before: boolean) => (result ? result.values[name] === "1" : before);
  return (
    <Fields id="programada" result={result}>
      <TextField
        name="content"
        label="Pregunta"
        hint="Cada vez se empieza de nuevo, así que tiene que decirlo todo."
        required
        rows={5}
        maxLength={limits.message}
        defaultValue={schedule?.content}
        autoFocus
      />
      <SelectField
        name="looksIn"
        label="Qué se hace cada vez"
        none="Se pregunta, en una conversación nueva"
        choices={errands}
        defaultValue={schedule?.looksIn ? placeNameOf(schedule.looksIn) : ""}
      />
      <Days chosen={result?.days ?? schedule?.days ?? []} error={result?.errors.days} />
      <SelectField
        name="monthDay"
        label="O qué día de cada mes"
        none="Ninguno"
        choices={monthDays}
        defaultValue={schedule?.monthDay ?? ""}
      />
      <Field name="time" label="A las" type="time" required defaultValue={schedule?.time ?? "08:00"} />
      <Zone chosen={zone} />
      <SelectField
        name="spokenTo"
        label="Modelo"
        none="El predeterminado"
        choices={models}
        others={{ label: "Asistentes", choices: assistants.map(({ id, name }) => ({ id: ofAssistant(id), name })) }}
        defaultValue={spokenTo ?? ""}
      />
      {/* Nobody can be told now; the choice stays for when they can be again. */}
      {!tells && schedule?.tells && <input type="hidden" name="tells" value="1" />}
      {tells && (
        <label className="check">
          <input type="checkbox" name="tells" value="1" defaultChecked={isSet("tells", schedule?.tells ?? true)} />
          <span>Avísame cuando esté la respuesta</span>
        </label>
      )}
      <label className="check">
        <input type="checkbox" name="enabled" value="1" defaultChecked={isSet("enabled", schedule?.enabled ?? true)} />
        <span>Activa (si no, se guarda sin preguntarse)</span>
      </label>
    </Fields>
  );
}

function Zone({ chosen }: { chosen: string }) {
  return (
    <>
      <Field
        name="zone"
        label="Zona horaria"
        hint="La del lugar cuya hora es esa: por ejemplo, Europe/Madrid o America/Bogota."
        required
        maxLength={60}
        list="zonas"
        defaultValue={chosen}
      />
      <datalist id="zonas">
        {zones.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

function Days({ chosen, error }: { chosen: number[]; error: string | undefined }) {
  return (
    <fieldset className="field" id="programada-days" tabIndex={-1} aria-describedby={error && "programada-days-error"}>
      <legend className="label">Qué días de la semana</legend>
      {error && (
        <p className="error" id="programada-days-error">
          <Icon name="alert" />
          <span>{error}</span>
        </p>
      )}
      <div className="weekdays">
        {weekdays.map((name, before) => (
          <label key={name} className="check">
            <input type="checkbox" name="days" value={before + 1} defaultChecked={chosen.includes(before + 1)} />
            <span>{name}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
