import type { AdminResource } from "../description.ts";

export const summaries: AdminResource<"summary"> = {
  path: "summary",
  many: "Resúmenes",
  icon: "summary",
  one: "resumen",
  about: "Un resumen ocupa el lugar de lo más antiguo de una conversación muy larga.",
  searches: "Texto",
  changes: "put",
  columns: [
    { name: "content", label: "Resumen" },
    { name: "chatId", label: "Conversación", kind: "chat" },
    { name: "modelId", label: "Modelo", kind: "model" },
    { name: "tokens", label: "Tokens", kind: "number" },
    { name: "createdAt", label: "Hecho", kind: "moment", sorted: true },
  ],
  filters: [],
  fields: [
    { name: "chatId", label: "Conversación", kind: "chat", required: true },
    { name: "upToMessageId", label: "Último mensaje que resume", kind: "message", required: true },
    { name: "content", label: "Resumen", kind: "markdown", required: true },
  ],
};
