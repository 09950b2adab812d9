import { z } from "zod";
import { limits } from "../process/limits.ts";
import { ask } from "./ask.server.ts";
import { accepted, type OwnApi, Refused, read } from "./own-api.server.ts";
import { day, excerptOf, type McpTool, said, toolOf } from "./tool.server.ts";

const reads = { readOnlyHint: true, openWorldHint: false };
const chatId = z.uuid().describe("El id de la conversación, como lo dan search y list_chats.");

const search = toolOf({
  name: "search",
  title: "Buscar",
  description: "Busca en las conversaciones y documentos de la persona. Da ids con los que leerlos enteros.",
  annotations: reads,
  input: z.object({ query: z.string().max(limits.search).describe("Qué buscar: unas palabras.") }),
  async run({ api }, { query }) {
    const { chats, messages, files } = await read(api.search.$get({ query: { q: query } }));
    const lines = [
      ...chats.map(({ id, title }) => `- Conversación «${title}» (chat ${id})`),
      ...messages.map(
        ({ id, chatId, title, excerpt }) => `- En «${title}» (chat ${chatId}, mensaje ${id}): ${excerptOf(excerpt)}`,
      ),
      ...files.map(
        ({ id, name, position, excerpt }) =>
          `- Documento «${name}» (documento ${id}, pasaje ${position}): ${excerptOf(excerpt)}`,
      ),
    ];
    return said(lines.join("\n") || "No se ha encontrado nada.");
  },
});

const listChats = toolOf({
  name: "list_chats",
  title: "Ver las conversaciones",
  description: "Las conversaciones de la persona, la última primero.",
  annotations: reads,
  input: z.object({
    project: z.uuid().optional().describe("Solo las de este proyecto, por su id."),
    cursor: z.string().optional().describe("Para seguir donde acabó la lista anterior."),
  }),
  async run({ api, personId }, { project, cursor }) {
    const filter = JSON.stringify({ userId: personId, ...(project && { projectId: project }) });
    const { items, nextCursor } = await read(api.chat.$get({ query: { filter, cursor } }));
    const lines = items.map(({ id, title, lastMessageAt }) => `- «${title}», ${day(lastMessageAt)} (chat ${id})`);
    if (nextCursor) lines.push(`Hay más: cursor ${nextCursor}`);
    return said(lines.join("\n") || "No hay ninguna conversación.");
  },
});

const readChat = toolOf({
  name: "read_chat",
  title: "Leer una conversación",
  description: "El texto de una conversación, los mensajes más nuevos si es larga.",
  annotations: reads,
  input: z.object({
    chat: chatId,
    before: z.uuid().optional().describe("El id de un mensaje: lo anterior a él."),
  }),
  async run(own, { chat, before }) {
    const { title } = await ownChat(own, chat);
    const page = own.api.chat[":id"].messages.$get({ param: { id: chat }, query: { before } });
    const { items, hasEarlier } = await read(page);
    const turns = items.map(
      ({ role, content, createdAt }) =>
        `## ${role === "user" ? "Persona" : "Modelo"} (${day(createdAt)})\n\n${content}`,
    );
    const earlier = hasEarlier && items[0] ? `\n\nHay mensajes anteriores: before ${items[0].id}` : "";
    return said(`# ${title}\n\n${turns.join("\n\n")}${earlier}`);
  },
});

const askModel = toolOf({
  name: "ask",
  title: "Preguntar a un modelo",
  description:
    "Envía un mensaje a un modelo de esta instalación y da su respuesta. Queda como una conversación de la persona, dentro de su plan.",
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  input: z.object({
    message: z.string().min(1).max(limits.message).describe("El mensaje."),
    chat: chatId.optional().describe("La conversación que sigue; sin ella empieza otra."),
    model: z.string().optional().describe("El modelo, por su nombre, como lo da list_models."),
  }),
  async run(own, { message, chat, model }, context) {
    if (chat) await ownChat(own, chat);
    const modelId = model === undefined ? undefined : await modelNamed(own, model);
    const json = { content: message, ...(chat && { chatId: chat }), ...(modelId && { modelId }) };
    const answer = accepted(own.api.intelligence.conversation.$post({ json }));
    return said(await ask(await answer, context));
  },
});

const listModels = toolOf({
  name: "list_models",
  title: "Ver los modelos",
  description: "Los modelos a los que se puede preguntar.",
  annotations: reads,
  input: z.object({}),
  async run({ api }) {
    const { items } = await read(api.model.$get({ query: {} }));
    return said(items.map(({ name }) => `- ${name}`).join("\n") || "No hay ningún modelo.");
  },
});

/** The chat, if it is the person's own: administrators see others' in the administration, not through their programs. */
async function ownChat({ api, personId }: OwnApi, id: string) {
  const chat = await read(api.chat[":id"].$get({ param: { id } }));
  if (chat.userId !== personId) throw new Refused("No existe o no puedes verlo.");
  return chat;
}

async function modelNamed({ api }: OwnApi, name: string): Promise<string> {
  const { items } = await read(api.model.$get({ query: {} }));
  const found = items.find((one) => one.name === name);
  if (!found) throw new Refused(`No hay ningún modelo «${name}». Hay: ${items.map((one) => one.name).join(", ")}.`);
  return found.id;
}

export const chatTools: McpTool[] = [search, listChats, readChat, askModel, listModels];
