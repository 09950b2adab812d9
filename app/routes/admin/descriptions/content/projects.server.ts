import type { AdminResource } from "../description.ts";

export const projects: AdminResource<"project"> = {
  path: "project",
  many: "Proyectos",
  icon: "project",
  one: "proyecto",
  about: "Un proyecto reúne conversaciones y documentos con unas instrucciones.",
  searches: "Nombre",
  changes: "put",
  columns: [
    { name: "name", label: "Nombre", sorted: true },
    { name: "userId", label: "Persona", kind: "person" },
    { name: "description", label: "Descripción" },
    { name: "updatedAt", label: "Cambiado", kind: "moment", sorted: true },
  ],
  filters: [],
  fields: [
    { name: "name", label: "Nombre", required: true },
    { name: "description", label: "Descripción", kind: "area" },
    { name: "instructions", label: "Instrucciones", kind: "area" },
  ],
  goes: [{ path: "chat", filter: "projectId", words: ["conversación", "conversaciones"] }],
  belongs: (id) => [
    { label: "Verlo", to: `/conversation/project/${id}` },
    { label: "Conversaciones", to: `/admin/chat?projectId=${id}` },
  ],
};
