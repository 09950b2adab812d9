import { resources } from "./resources.server.ts";

export type Change = { label: string; before: string; after: string };

// Every item has them, and they tell nothing.
const untold = new Set(["id", "createdAt", "updatedAt"]);

/** What an entry of the audit tells, field by field: what has changed, or all of what was made or deleted. */
export function changesOf(path: string, stored: string): Change[] {
  const { before = {}, after = {} } = JSON.parse(stored) as Record<
    "before" | "after",
    Record<string, unknown> | undefined
  >;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => !untold.has(name) && JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => {
      const known = describe(path, name);
      return { label: known?.label ?? name, before: say(before[name], known), after: say(after[name], known) };
    });
}

type Known = { label: string; choices?: Record<string, string> } | undefined;

function describe(path: string, name: string): Known {
  const resource = resources.find((one) => one.path === path);
  return [...(resource?.fields ?? []), ...(resource?.columns ?? [])].find((one) => one.name === name);
}

function say(value: unknown, known: Known): string {
  if (value === null || value === undefined || value === "") return "";
  if (typeof value === "boolean") return value ? "Sí" : "No";
  if (typeof value === "object") return JSON.stringify(value);
  return known?.choices?.[String(value)] ?? String(value);
}
