import { dueNow } from "../../retention/due.server.ts";
import type { AdminResource } from "../description.ts";

const kinds = { chats: "Conversaciones", files: "Archivos", audit: "Auditoría", usage: "Uso" };

export const retentions: AdminResource<"retention"> = {
  path: "retention",
  many: "Conservación",
  icon: "clock",
  one: "regla de conservación",
  about: "Una regla borra lo que es más viejo que unos días. Sin ninguna, todo se conserva.",
  feminine: true,
  searches: "Texto",
  changes: "put",
  columns: [
    { name: "kind", label: "Qué", kind: "choice", choices: kinds, sorted: true },
    { name: "days", label: "Días", kind: "number", sorted: true },
    { name: "groupId", label: "Grupo", kind: "group" },
    { name: "keepsPinned", label: "Las fijadas se quedan", kind: "flag", sorted: true },
    { name: "startsAt", label: "Borra desde", kind: "moment", sorted: true },
    { name: "createdAt", label: "Creada", kind: "moment", sorted: true, hidden: true },
  ],
  filters: [{ name: "kind", label: "Qué", choices: kinds, all: "Todo" }],
  fields: [
    { name: "kind", label: "Qué", kind: "choice", choices: kinds, half: true },
    { name: "days", label: "Días que se conserva", kind: "number", required: true, half: true },
    {
      name: "groupId",
      label: "Solo lo de la gente de este grupo",
      kind: "group",
      nullable: true,
      hint: "Vacío: lo de todas las personas. Si varias reglas valen para alguien, gana la más corta.",
    },
    {
      name: "keepsPinned",
      label: "Las conversaciones fijadas se quedan",
      kind: "flag",
      initial: "true",
      hint: "Empieza a borrar un día después de guardarse; hasta entonces, su ficha enseña lo que borraría.",
    },
  ],
  parts: async (context, { id }) => ({
    below: { kind: "due", ...(await dueNow(context, id)) },
  }),
};
