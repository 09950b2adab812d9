import type { AdminResource } from "./description.ts";

const verdicts = { true: "Útil", false: "No útil" };

export const opinions: AdminResource = {
  path: "opinion",
  many: "Opiniones",
  icon: "check",
  one: "opinión",
  feminine: true,
  searches: "Pregunta, respuesta, motivo, asistente o persona",
  reads: ({ opinion }) => ({ list: opinion.$get, read: opinion[":id"].$get }),
  columns: [
    { name: "question", label: "Pregunta" },
    { name: "useful", label: "Opinión", states: { true: [verdicts.true, "good"], false: [verdicts.false, "bad"] } },
    { name: "reason", label: "Motivo" },
    { name: "modelId", label: "Modelo", kind: "model" },
    { name: "assistant", label: "Asistente" },
    { name: "userId", label: "Persona", kind: "person" },
    { name: "reply", label: "Respuesta", hidden: true },
    { name: "createdAt", label: "Dada", kind: "moment", sorted: true },
  ],
  filters: [{ name: "useful", label: "Opinión", choices: verdicts, all: "Todas", flag: true }],
  fields: [],
  lines: true,
};
