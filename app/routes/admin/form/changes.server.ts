import { resources } from "../descriptions/resources.server.ts";
import { house } from "../house/description.server.ts";

export type Recorded = { before?: Record<string, unknown>; after?: Record<string, unknown> };
export type FieldChange = { label: string; before: string; after: string };

// Columns that every row has and that are not worth showing.
const untold = new Set(["id", "createdAt", "updatedAt"]);

// Labels of names in the audit trail that belong to no form field, such as those of a deletion by a rule.
const untitled: Record<string, string> = {
  ruleId: "Regla",
  days: "Días",
  groupId: "Grupo",
  count: "Cuántos",
  ids: "Identificadores",
  through: "Hasta el apunte",
  purpose: "Para qué",
  untold: "Por qué no se avisa",
  characters: "Caracteres",
  keyId: "Con la clave",
  logo: "Logotipo",
  icon: "Icono",
};

/** The changes of an audit entry, field by field; all fields for something that was created or deleted. */
export function changesOf(path: string, { before = {}, after = {} }: Recorded): FieldChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => !untold.has(name) && JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => {
      const known = describe(path, name);
      return {
        label: known?.label ?? untitled[name] ?? name,
        before: say(before[name], known),
        after: say(after[name], known),
      };
    });
}

type FieldNames = { label: string; choices?: Record<string, string> } | undefined;

function describe(path: string, name: string): FieldNames {
  const resource = [...resources, house].find((one) => one.path === path);
  return [...(resource?.fields ?? []), ...(resource?.columns ?? [])].find((one) => one.name === name);
}

function say(value: unknown, known: FieldNames): string {
  if (value === null || value === undefined || value === "") return "";
  if (typeof value === "boolean") return value ? "Sí" : "No";
  if (typeof value === "object") return JSON.stringify(value);
  return known?.choices?.[String(value)] ?? String(value);
}
