import type { AdminResource } from "../description.ts";
import { yesNo } from "../words.ts";

export const rooms: AdminResource<"room"> = {
  path: "room",
  many: "Salas",
  icon: "globe",
  one: "sala",
  feminine: true,
  about: "En una sala, quien tenga su enlace habla con un asistente sin cuenta. Quién las abre se decide en «La casa».",
  searches: "Nombre, persona",
  changes: "patch",
  columns: [
    { name: "name", label: "Nombre", sorted: true },
    { name: "userId", label: "De", kind: "person" },
    { name: "isOpen", label: "Estado", kind: "flag", states: { true: ["Abierta", "good"], false: ["Cerrada", "off"] } },
    { name: "endsAt", label: "Hasta", kind: "moment", sorted: true },
    { name: "joined", label: "Han entrado", kind: "number" },
    { name: "asked", label: "Preguntas", kind: "number" },
    { name: "spent", label: "Ha costado", kind: "number" },
    { name: "showsTexts", label: "Se lee lo escrito", kind: "flag", tag: true, hidden: true },
    { name: "createdAt", label: "Creada", kind: "moment", sorted: true, hidden: true },
  ],
  filters: [{ name: "isOpen", label: "Abierta", choices: yesNo, flag: true, all: "Todas" }],
  fields: [
    { name: "name", label: "Nombre", required: true },
    {
      name: "assistantId",
      label: "Asistente",
      nullable: true,
      hint: "Su identificador: mejor se abre en /conversation/sala, donde se elige de una lista.",
    },
    { name: "endsAt", label: "Hasta", kind: "moment", required: true },
    { name: "people", label: "Personas, como mucho", kind: "number", initial: "30", half: true },
    { name: "messages", label: "Preguntas entre todas", kind: "number", initial: "600", half: true },
    { name: "budget", label: "Puede costar, como mucho", kind: "number", nullable: true },
    { name: "isOpen", label: "Abierta", kind: "flag", initial: "true", hint: "Sin marcar, nadie entra ni pregunta." },
  ],
  verbs: [{ name: "close", label: "Cerrar", json: { isOpen: false } }],
};
