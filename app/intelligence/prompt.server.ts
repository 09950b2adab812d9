import { sql } from "kysely";
import type { Db, Engine } from "../db/connection.server.ts";
import { everyone, searchPassages } from "../db/search.server.ts";
import type { MessageRow, ModelRow } from "../db/tables.ts";
import type { Source } from "./chunk.ts";
import type { Prompt, Turn } from "./providers.server.ts";

// Spanish text is about 3.5 characters a token with today's tokenizers; 3 leaves room.
const charactersPerToken = 3;
const sourcesInPrompt = 6;

/** The turns that lead to a message, oldest first, the message itself last; as many as fit in `characters`. */
async function turnsUpTo(db: Db, messageId: string, characters: number): Promise<Turn[]> {
  const { rows } = await sql<Pick<MessageRow, "role" | "content"> & { depth: number }>`
    with recursive branch as (
      select "parentId", role, content, 0 as depth from messages where id = ${messageId}
      union all
      select m."parentId", m.role, m.content, b.depth + 1 from messages m join branch b on m.id = b."parentId"
      where b.depth < 400
    ) select role, content, depth from branch order by depth`.execute(db);
  const turns: Turn[] = [];
  let room = characters;
  for (const { role, content } of rows) {
    if (role === "system" || content === "") continue;
    room -= content.length;
    if (room < 0 && turns.length > 0) break;
    turns.unshift({ role, content });
  }
  // A conversation starts with the person: providers refuse anything else.
  while (turns[0]?.role === "assistant") turns.shift();
  return turns;
}

/** Everything a model is given for a reply, in the order of product.md §7, and the sources it may cite. */
export async function buildPrompt(
  { db, engine }: { db: Db; engine: Engine },
  question: MessageRow,
  model: Pick<ModelRow, "provider" | "contextWindow" | "maxOutputTokens" | "systemPrompt">,
  written: string,
): Promise<{ prompt: Prompt; sources: Source[] }> {
  const local = model.provider === "local";
  const chat = await db
    .selectFrom("chats")
    .leftJoin("projects", "projects.id", "chats.projectId")
    .where("chats.id", "=", question.chatId)
    .select(["chats.projectId", "projects.instructions"])
    .executeTakeFirst();
  const trainings = await db
    .selectFrom("trainings")
    .where("enabled", "=", 1)
    .where("kind", "in", ["instruction", "example"])
    .where((e) => e.or([e("projectId", "is", null), e("projectId", "=", chat?.projectId ?? "")]))
    .orderBy("position")
    .selectAll()
    .execute();
  const sources = await findSources({ db, engine }, question, { local, projectId: chat?.projectId ?? null });
  const system = [
    model.systemPrompt,
    ...trainings.filter(({ kind }) => kind === "instruction").map(({ content }) => content),
    chat?.instructions ?? "",
    sources.length > 0 && !local ? quoteSources(sources) : "",
  ]
    .filter(Boolean)
    .join("\n\n");
  const room = Math.max(model.contextWindow - model.maxOutputTokens, model.contextWindow / 2) * charactersPerToken;
  const turns = local ? [] : await turnsUpTo(db, question.id, room - system.length - written.length);
  const examples = trainings.filter(({ kind }) => kind === "example").flatMap(({ content }) => exampleTurns(content));
  return { prompt: { system, turns: [...examples, ...turns, ...goOn(written)] }, sources };
}

function goOn(written: string): Turn[] {
  if (!written) return [];
  return [
    { role: "assistant", content: written },
    {
      role: "user",
      content: "Tu respuesta se cortó. Continúa exactamente donde se quedó, sin repetir nada ni comentarlo.",
    },
  ];
}

/** The local assistant quotes the person's own messages too; a language model already has the conversation. */
async function findSources(
  { db, engine }: { db: Db; engine: Engine },
  question: MessageRow,
  { local, projectId }: { local: boolean; projectId: string | null },
): Promise<Source[]> {
  const owners = local ? [everyone, question.userId] : [everyone];
  const hits = await searchPassages(db, engine, {
    question: question.content,
    owners,
    except: [question.id],
    limit: sourcesInPrompt,
  });
  if (hits.length === 0) return [];
  const chats = await db
    .selectFrom("chats")
    .where(
      "id",
      "in",
      hits.map(({ chatId }) => chatId ?? ""),
    )
    .select(["id", "title"])
    .execute();
  const trainings = await db
    .selectFrom("trainings")
    .where(
      "id",
      "in",
      hits.map(({ trainingId }) => trainingId ?? ""),
    )
    .where("enabled", "=", 1)
    .where((e) => e.or([e("projectId", "is", null), e("projectId", "=", projectId ?? "")]))
    .select(["id", "title"])
    .execute();
  const titles = new Map([...chats, ...trainings].map(({ id, title }) => [id, title]));
  return hits
    .map((hit) => ({ ...hit, title: titles.get(hit.trainingId ?? hit.chatId ?? "") }))
    .filter((hit): hit is typeof hit & { title: string } => hit.title !== undefined)
    .map(({ trainingId, title, text, chatId, messageId }, index) => ({
      n: index + 1,
      kind: trainingId ? "training" : "message",
      title,
      quote: text,
      chatId,
      messageId,
    }));
}

function quoteSources(sources: Source[]): string {
  const list = sources.map(({ n, title, quote }) => `[${n}] ${title}\n${quote}`).join("\n\n");
  return `Material que puede servir para responder. Si lo usas, cita su número entre corchetes, como [1].\n\n${list}`;
}

/** An example is written as «Pregunta: …» and «Respuesta: …»; anything else is left out. */
function exampleTurns(content: string): Turn[] {
  const match = /^Pregunta:\s*([\s\S]+?)\n+Respuesta:\s*([\s\S]+)$/.exec(content.trim());
  if (!match?.[1] || !match[2]) return [];
  return [
    { role: "user", content: match[1].trim() },
    { role: "assistant", content: match[2].trim() },
  ];
}
