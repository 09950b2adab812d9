import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { z } from "@hono/zod-openapi";
import type { Db } from "../../db/engine.server.ts";
import { type JobAtWork, JobFailed, type JobRules } from "../../jobs/jobs.server.ts";
import { runWorker, TooMuch } from "../../process/child-process.server.ts";
import { importKeyStart } from "../http/schemas.server.ts";
import { type AddedAccount, addAccount } from "./add-account.server.ts";
import { addChat, type ImportServices } from "./add-chat.server.ts";
import type { FoundChat } from "./found-chat.server.ts";
import type { ImportAnswer, ImportWork } from "./import.worker.ts";

export const imported = z
  .object({
    chats: z.number(),
    messages: z.number(),
    files: z.number(),
    things: z
      .number()
      .default(0)
      .openapi({ description: "Proyectos, asistentes, plantillas y preguntas programadas de más, de otra Tertulia." }),
    known: z.number().openapi({ description: "Los que ya se habían importado antes, y no tienen nada nuevo." }),
    grown: z.number().default(0).openapi({ description: "Los que ya se habían importado, y tienen mensajes nuevos." }),
    left: z.array(z.string()).openapi({ description: "Lo que no venía en la exportación, en palabras." }),
  })
  .openapi("Imported");
type Imported = z.output<typeof imported>;

const retries = [10_000, 60_000, 10 * 60_000];

/** How exports are imported; a retry knows the work of earlier attempts. One at a time: each may need half a gigabyte for a moment. */
export const importing = (services: ImportServices): JobRules => ({
  atOnce: 1,
  retries,
  async work(job) {
    const { storage } = services.files;
    // Swept like uploads (`http/multipart.server.ts`) if the process is killed.
    const folder = await mkdtemp(join(tmpdir(), "tertulia-recibido-"));
    try {
      const found = await storage.lend(job.id, "original", (path) => foundIn({ path, folder }));
      if (!found) throw new JobFailed("el archivo ya no está en el servidor. Súbelo otra vez.");
      const account = found.account && (await addAccount(services, job.userId ?? "", found.account));
      const result = await addChats(services, job, found, account);
      await storage.delete([job.id]);
      return result;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
});

type Found = Exclude<ImportAnswer, { refused: string }>;

async function foundIn(work: ImportWork): Promise<Found> {
  const program = new URL(`./import.worker${extname(import.meta.filename)}`, import.meta.url);
  const answer = await runWorker<ImportAnswer>(program, work).catch((error) => {
    if (error instanceof TooMuch) return { refused: "es demasiado grande para leerlo de una vez." };
    throw error;
  });
  if ("refused" in answer) throw new JobFailed(`el archivo ${answer.refused}`);
  return answer;
}

/** Progress of an import: the chat that is being added, its number among all chats, and the counts before that chat. */
const memory = z.object({
  chatId: z.string().optional(),
  index: z.number().default(0),
  chats: z.number().default(0),
  messages: z.number().default(0),
  files: z.number().default(0),
  known: z.number().default(0),
  grown: z.number().default(0),
});

async function addChats(
  services: ImportServices,
  job: JobAtWork,
  { chats, left: unreadFiles, unread }: Found,
  account: AddedAccount | undefined,
): Promise<Imported> {
  const { index: begun, chatId, ...counted } = memory.parse(JSON.parse(job.data));
  // Refused files of chats that an earlier attempt has added are not known any more.
  const left = [...unreadFiles, ...chats.slice(0, begun).flatMap((chat) => chat.left)];
  for (let index = begun; index < chats.length; index++) {
    const chat = chats[index];
    if (!chat) break;
    job.signal.throwIfAborted();
    await job.progress(index, chats.length);
    const added =
      index === begun && (await isWhole(services.db, job, chatId))
        ? { messages: chat.messages.length, files: 0, left: [], isGrown: false }
        : await addChat(services, job.userId ?? "", chat, {
            projectId: account?.projects.get(chat.project ?? "") ?? null,
            assistantId: account?.assistants.get(chat.assistant ?? "") ?? null,
            fileIds: account?.fileIds,
            begun: (id) => job.remember(JSON.stringify({ ...counted, index, chatId: id })),
          });
    if (!added) {
      counted.known++;
      continue;
    }
    if (added.isGrown) counted.grown++;
    else counted.chats++;
    counted.messages += added.messages;
    counted.files += added.files;
    left.push(...chat.left, ...added.left);
  }
  if (account) {
    // This count includes the files of messages.
    counted.files = account.files;
    left.push(...account.left);
  }
  const broken = unread > 0 ? [`${unread} ${unread === 1 ? "conversación ilegible" : "conversaciones ilegibles"}`] : [];
  return { ...counted, things: account?.things ?? 0, left: [...broken, ...leftInWords(left)] };
}

/** Whether the chat that an attempt was adding when it was cut off was added to its end. Half a chat is deleted. */
async function isWhole(db: Db, { userId }: JobAtWork, chatId: string | undefined): Promise<boolean> {
  if (!chatId) return false;
  const marked = db.selectFrom("messages").where("chatId", "=", chatId).where("key", "like", `${importKeyStart}%`);
  if (await marked.select("id").executeTakeFirst()) return true;
  await db.deleteFrom("chats").where("id", "=", chatId).where("userId", "=", userId).execute();
  return false;
}

const namesSaid = 5;

/** Sentences about what the export did not contain, with the first names: «3 archivos: acta.pdf, notas.txt y más». */
function leftInWords(left: FoundChat["left"]): string[] {
  const said = (kind: "image" | "file", [one, many]: [string, string]) => {
    const all = left.filter((item) => item.kind === kind);
    if (all.length === 0) return [];
    const names = [...new Set(all.map(({ name }) => name.slice(0, 80)).filter(Boolean))].slice(0, namesSaid);
    const rest = names.length > 0 && names.length < all.length ? " y más" : "";
    return [`${all.length} ${all.length === 1 ? one : many}${names.length > 0 ? `: ${names.join(", ")}${rest}` : ""}`];
  };
  return [...said("image", ["imagen", "imágenes"]), ...said("file", ["archivo", "archivos"])];
}
