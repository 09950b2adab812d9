import type { States } from "./description.ts";

/** Words that several resources share. */
export const yesNo = { true: "Sí", false: "No" };
export const activity = { true: ["Activo", "good"], false: ["Inactivo", "off"] } satisfies States;
