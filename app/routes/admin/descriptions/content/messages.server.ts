import type { AdminResource } from "../description.ts";

const replies = {
  complete: "Completo",
  streaming: "Escribiéndose",
  stopped: "Detenido",
  failed: "Fallido",
  interrupted: "Interrumpido",
};

export const messages: AdminResource<"message"> = {
  path: "message",
  many: "Mensajes",
  icon: "message",
  one: "mensaje",
  about: "Aquí están los mensajes de todas las conversaciones.",
  searches: "Texto",
  changes: "patch",
  columns: [
    { name: "content", label: "Texto", kind: "markdown" },
    {
      name: "role",
      label: "De",
      kind: "choice",
      choices: { user: "Persona", assistant: "Modelo", system: "Sistema" },
    },
    {
      name: "status",
      label: "Estado",
      kind: "choice",
      states: {
        complete: ["Completo", "good"],
        streaming: ["Escribiéndose", "wait"],
        stopped: ["Detenido", "off"],
        failed: ["Fallido", "bad"],
        interrupted: ["Interrumpido", "bad"],
      },
    },
    { name: "chatId", label: "Conversación", kind: "chat" },
    { name: "modelId", label: "Modelo", kind: "model", hidden: true },
    { name: "inputTokens", label: "Tokens de entrada", kind: "number", hidden: true },
    { name: "outputTokens", label: "Tokens de salida", kind: "number", hidden: true },
    { name: "createdAt", label: "Escrito", kind: "moment", sorted: true },
  ],
  filters: [
    { name: "role", label: "De", choices: { user: "Persona", assistant: "Modelo" } },
    { name: "status", label: "Estado", choices: replies },
  ],
  fields: [
    {
      name: "chatId",
      label: "Conversación",
      kind: "chat",
      required: true,
      only: "create",
      hint: "Una tuya: nadie escribe en nombre de otra persona.",
    },
    { name: "content", label: "Texto", kind: "markdown", required: true },
  ],
};
