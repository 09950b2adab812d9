import { modelsToTry, tryAgain } from "../../opinions/try-again.server.ts";
import type { AdminResource } from "../description.ts";

const verdicts = { true: "Útil", false: "No útil" };

export const opinions: AdminResource<"opinion"> = {
  path: "opinion",
  many: "Opiniones",
  icon: "good",
  one: "opinión",
  about: "Aquí llega si cada respuesta fue útil, y por qué.",
  feminine: true,
  searches: "Pregunta, respuesta, motivo, asistente o persona",
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
  whole: ["question", "reply", "reason"],
  parts: async (context, item) => ({
    below: { kind: "again", models: await modelsToTry(context), reply: String(item.reply) },
  }),
  acts: tryAgain,
};
