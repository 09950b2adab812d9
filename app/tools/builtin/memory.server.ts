import type { Db } from "../../db/engine.server.ts";
import { memoriesAtMost } from "../../db/people/memories.server.ts";
import { newRow } from "../../db/rows.server.ts";
import { limits } from "../../process/limits.ts";
import { type OwnTool, ToolRefused } from "../tool.server.ts";
import { fieldText } from "./field-text.server.ts";

/** Name of the tool that is offered only where its person wants to be remembered. */
export const rememberTool = "recordar";

/** «Memoria»: a sentence about the person for later conversations, kept once they have said yes. */
export const memory = ({ db }: { db: Db }): OwnTool => ({
  tool: rememberTool,
  label: "Recordar",
  description:
    "Propone recordar una frase sobre la persona para otras conversaciones: dónde trabaja, cómo prefiere las respuestas, en qué está. Solo lo que ella ha dicho y va a servir más adelante; nunca datos de otras personas, de salud ni claves. La persona lo ve y decide.",
  schema: {
    type: "object",
    properties: {
      frase: {
        type: "string",
        title: "Frase",
        description: "Una frase corta en tercera persona: «Trabaja en el padrón de Lugo»",
      },
    },
    required: ["frase"],
  },
  reachesOut: false,
  readOnly: false,
  asksAlways: true,
  async call({ frase }, { userId, chatId, projectId, sessionId }) {
    const text = remembered(fieldText(frase));
    if (!text) throw new ToolRefused("No se ha dicho qué recordar.");
    if (sessionId !== null) throw new ToolRefused("De una conversación temporal no se recuerda nada.");
    const kept = await keepMemory(db, { userId, chatId: chatId || null, projectId, text });
    if (!kept)
      throw new ToolRefused(
        `Ya se recuerdan ${memoriesAtMost} frases. La persona puede borrar alguna en /user/memoria.`,
      );
    return { text: "Recordado." };
  },
});

/** A sentence as it is kept: one line, of a bounded length. */
export const remembered = (text: string): string =>
  text.replaceAll("\0", "").replace(/\s+/g, " ").trim().slice(0, limits.memory).toWellFormed();

type NewMemory = { userId: string; chatId: string | null; projectId: string | null; text: string };

/** Keeps a sentence; one that is there already stays as it is. False where there is no room for more. */
export async function keepMemory(db: Db, memory: NewMemory): Promise<boolean> {
  const own = await db
    .selectFrom("memories")
    .where("userId", "=", memory.userId)
    .select(["text", "projectId"])
    .execute();
  if (own.some(({ text, projectId }) => text === memory.text && projectId === memory.projectId)) return true;
  if (own.length >= memoriesAtMost) return false;
  const now = Date.now();
  await db
    .insertInto("memories")
    .values({ ...newRow(now), ...memory })
    .execute();
  return true;
}
