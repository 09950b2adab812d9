import type { AdminResource } from "../description.ts";
import { yesNo } from "../words.ts";

export const chats: AdminResource<"chat"> = {
  path: "chat",
  many: "Conversaciones",
  icon: "chat",
  one: "conversación",
  about: "Aquí están las conversaciones de todas las personas, sin abrirlas.",
  feminine: true,
  searches: "Título",
  changes: "patch",
  columns: [
    { name: "title", label: "Título", sorted: true },
    { name: "userId", label: "Persona", kind: "person" },
    { name: "modelId", label: "Modelo", kind: "model" },
    { name: "lastMessageAt", label: "Último mensaje", kind: "moment", sorted: true },
    { name: "archived", label: "Archivada", kind: "flag", hidden: true },
    { name: "pinned", label: "Fijada", kind: "flag", hidden: true },
    { name: "createdAt", label: "Creada", kind: "moment", sorted: true, hidden: true },
  ],
  filters: [{ name: "archived", label: "Archivada", choices: yesNo, flag: true, all: "Todas" }],
  fields: [
    { name: "title", label: "Título", required: true },
    { name: "pinned", label: "Fijada", kind: "flag", only: "edit" },
    { name: "archived", label: "Archivada", kind: "flag", only: "edit" },
  ],
  verbs: [
    { name: "archive", label: "Archivar", json: { archived: true } },
    { name: "unarchive", label: "Desarchivar", json: { archived: false } },
  ],
  goes: [{ path: "message", filter: "chatId", words: ["mensaje", "mensajes"] }],
  belongs: (id) => [
    { label: "Leerla", to: `/conversation/chat/${id}` },
    { label: "Mensajes", to: `/admin/message?chatId=${id}` },
    { label: "Resúmenes", to: `/admin/summary?chatId=${id}` },
  ],
};
