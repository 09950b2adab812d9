import type { AdminResource, ChoicesOf } from "./description.ts";

const kinds: ChoicesOf<"job", "kind"> = {
  file: "Leer un documento",
  picture: "Leer una imagen",
  import: "Importar",
  export: "Preparar una descarga",
  email: "Enviar un correo",
  upkeep: "Limpieza",
  words: "Palabras de la búsqueda",
  meanings: "Sentido de los pasajes",
  "reply-notice": "Aviso de una respuesta",
  "reply-push": "Aviso en los dispositivos",
  schedules: "Preguntas programadas",
  queued: "Mensajes en espera",
  backup: "Copia de la noche",
  events: "Avisos de seguridad",
  folder: "Carpeta conectada",
  webhook: "Aviso a un programa",
  models: "Buscar modelos nuevos",
  batch: "Preguntas en serie",
  artifact: "Guardar un escrito como archivo",
  errand: "Encargo",
  mail: "Mirar el buzón",
  "mail-answer": "Respuesta por correo",
};
const states = { waiting: "Espera", running: "En marcha", done: "Hecho", failed: "Ha fallado" };

export const jobs: AdminResource<"job"> = {
  path: "job",
  many: "Trabajos",
  icon: "refresh",
  one: "trabajo",
  about: "Aquí está lo que se hace por detrás: leer archivos, importar, enviar correos.",
  searches: "Por qué ha fallado",
  columns: [
    { name: "kind", label: "Trabajo", kind: "choice", choices: kinds },
    {
      name: "state",
      label: "Estado",
      states: {
        waiting: [states.waiting, "wait"],
        running: [states.running, "wait"],
        done: [states.done, "good"],
        failed: [states.failed, "bad"],
      },
    },
    { name: "problem", label: "Problema" },
    { name: "attempts", label: "Intentos", kind: "number" },
    { name: "userId", label: "Persona", kind: "person" },
    { name: "done", label: "Lleva", kind: "number", hidden: true },
    { name: "total", label: "De", kind: "number", hidden: true },
    { name: "createdAt", label: "Pedido", kind: "moment", sorted: true },
  ],
  filters: [
    { name: "kind", label: "Trabajo", choices: kinds },
    { name: "state", label: "Estado", choices: states },
  ],
  fields: [],
};
