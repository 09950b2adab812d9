import { type AdminResource, forGroups } from "../description.ts";
import { activity, yesNo } from "../words.ts";

const kinds = { instruction: "Instrucción", knowledge: "Conocimiento", example: "Ejemplo" };

export const trainings: AdminResource<"training"> = {
  path: "training",
  many: "Entrenamientos",
  icon: "book",
  one: "entrenamiento",
  about: "Un entrenamiento va con cada pregunta: instrucciones de la casa, o textos que se citan.",
  searches: "Título o contenido",
  changes: "patch",
  columns: [
    { name: "title", label: "Título", sorted: true },
    { name: "kind", label: "Tipo", kind: "choice", choices: kinds, sorted: true },
    { name: "projectId", label: "Proyecto", kind: "project" },
    { name: "enabled", label: "Estado", kind: "flag", states: activity, sorted: true },
    { name: "position", label: "Posición", kind: "number", sorted: true },
    { name: "updatedAt", label: "Cambiado", kind: "moment", sorted: true },
  ],
  filters: [
    { name: "kind", label: "Tipo", choices: kinds },
    { name: "enabled", label: "Activo", choices: yesNo, flag: true },
  ],
  fields: [
    { name: "title", label: "Título", required: true },
    { name: "kind", label: "Tipo", kind: "choice", choices: kinds },
    {
      name: "content",
      label: "Contenido",
      kind: "markdown",
      required: true,
      hint: "Las instrucciones van siempre; el conocimiento se busca; un ejemplo se escribe «Pregunta: …» y «Respuesta: …».",
    },
    { name: "projectId", label: "Proyecto", kind: "project", hint: "Vacío: para todas las conversaciones." },
    { name: "position", label: "Posición", kind: "number", initial: "0" },
    { name: "enabled", label: "Activo", kind: "flag", initial: "true" },
    forGroups,
  ],
  verbs: [
    { name: "enable", label: "Activar", json: { enabled: true } },
    { name: "disable", label: "Desactivar", json: { enabled: false } },
  ],
};
