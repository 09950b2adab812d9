import { z } from "zod";
import { Refused, read } from "./own-api.server.ts";
import { type McpTool, said, toolOf } from "./tool.server.ts";

const reads = { readOnlyHint: true, openWorldHint: false };

const listProjects = toolOf({
  name: "list_projects",
  title: "Ver los proyectos",
  description: "Los proyectos de la persona.",
  annotations: reads,
  input: z.object({ cursor: z.string().optional().describe("Para seguir donde acabó la lista anterior.") }),
  async run({ api, personId }, { cursor }) {
    const filter = JSON.stringify({ userId: personId });
    const { items, nextCursor } = await read(api.project.$get({ query: { filter, cursor } }));
    const lines = items.map(({ id, name, description }) =>
      [`- «${name}» (proyecto ${id})`, description].filter(Boolean).join(": "),
    );
    if (nextCursor) lines.push(`Hay más: cursor ${nextCursor}`);
    return said(lines.join("\n") || "No hay ningún proyecto.");
  },
});

const listDocuments = toolOf({
  name: "list_documents",
  title: "Ver los documentos",
  description: "Los archivos de la persona, o los de un proyecto.",
  annotations: reads,
  input: z.object({
    project: z.uuid().optional().describe("Solo los de este proyecto, por su id."),
    cursor: z.string().optional().describe("Para seguir donde acabó la lista anterior."),
  }),
  async run({ api, personId }, { project, cursor }) {
    const filter = JSON.stringify({ userId: personId, ...(project && { projectId: project }) });
    const { items, nextCursor } = await read(api.file.$get({ query: { filter, cursor } }));
    const lines = items.map(({ id, name, hasText }) => `- «${name}» (documento ${id}${hasText ? "" : ", sin texto"})`);
    if (nextCursor) lines.push(`Hay más: cursor ${nextCursor}`);
    return said(lines.join("\n") || "No hay ningún documento.");
  },
});

const readDocument = toolOf({
  name: "read_document",
  title: "Leer un documento",
  description: "El texto de un documento, en pasajes numerados.",
  annotations: reads,
  input: z.object({
    document: z.uuid().describe("El id del documento, como lo dan search y list_documents."),
    from: z.number().int().min(0).default(0).describe("El pasaje desde el que leer."),
  }),
  async run({ api, personId }, { document, from }) {
    const param = { id: document };
    const { name, userId } = await read(api.file[":id"].$get({ param }));
    if (userId !== personId) throw new Refused("No existe o no puedes verlo.");
    const { items, total } = await read(api.file[":id"].passages.$get({ param, query: { from: String(from) } }));
    const passages = items.map(({ position, page, text }) => `[${position}${page ? `, página ${page}` : ""}] ${text}`);
    const next = from + items.length;
    const more = next < total ? `\n\nHay más: from ${next} (de ${total} pasajes)` : "";
    return said(`# ${name}\n\n${passages.join("\n\n") || "No se ha podido leer ningún texto en él."}${more}`);
  },
});

export const documentTools: McpTool[] = [listProjects, listDocuments, readDocument];
