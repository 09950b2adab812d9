import { extname } from "node:path";
import { sql } from "kysely";
import type { Artifacts } from "../../artifacts/artifacts.server.ts";
import type { Db } from "../../db/engine.server.ts";
import { runWorker, TooMuch } from "../../process/child-process.server.ts";
import { FairQueue } from "../../process/work/fair-queue.server.ts";
import { type Caller, type OwnTool, ToolRefused } from "../tool.server.ts";
import { fieldText } from "./field-text.server.ts";
import type { ProgramAnswer, ProgramFile, ProgramJob } from "./program.worker.ts";
import { keepFiles } from "./program-files.server.ts";

// In characters: the most for a program, and for all files that it is given.
const longest = 50_000;
const filesAtMost = 8_000_000;
// In ms, with the start of its process.
const within = 12_000;
// Two programs at once, at most one for each person.
const queue = new FairQueue(2);

/** «Calcular con un programa»: JavaScript in WebAssembly, in a child process without network and files but the texts of the chat. */
export const program = ({ db, artifacts }: { db: Db; artifacts: Artifacts }): OwnTool => ({
  tool: "ejecutar_programa",
  label: "Calcular con un programa",
  description:
    "Ejecuta un programa en JavaScript y devuelve lo que imprime con print(). Úsalo para cualquier cuenta con datos, en lugar de calcular de cabeza. Los archivos de la conversación están en archivo('nombre'): .texto y .filas (objetos por los nombres de las columnas, con textos). Hay numero('1.234,56'), suma(filas, 'campo'), media(filas, 'campo'), agrupar(filas, 'campo') y tabla(filas), que imprime una tabla. guardar('nombre.csv', filas o texto) deja un escrito que la persona ve y descarga: .csv es una tabla, .md un texto, .svg o .vl.json (Vega-Lite, con sus datos dentro) un dibujo. No hay red, ni esperas, ni otras bibliotecas.",
  schema: {
    type: "object",
    properties: { codigo: { type: "string", title: "Programa", description: "JavaScript, sin import ni await" } },
    required: ["codigo"],
  },
  // A program brings files that others wrote into the prompt. It counts as read-only, as running it again leaves no duplicates.
  reachesOut: true,
  async call({ codigo }, caller) {
    const code = fieldText(codigo);
    if (!code.trim()) throw new ToolRefused("No hay ningún programa.");
    if (code.length > longest) throw new ToolRefused("El programa es demasiado largo.");
    if (await isHidden(db, caller))
      throw new ToolRefused(
        "Este modelo recibe los textos con seudónimos, y un programa podría deletrear los de verdad.",
      );
    const { printed, saved, problem, isLate } = await run(db, code, caller);
    if (isLate) throw new ToolRefused("El programa no ha acabado en 10 segundos.");
    if (problem)
      throw new ToolRefused(`El programa ha fallado: ${problem}${printed && `\nHabía impreso:\n${printed}`}`);
    const { said, ...kept } = await keepFiles({ db, artifacts }, saved, caller);
    const text = [printed.trim(), ...said].filter(Boolean).join("\n");
    return { text: text || "El programa ha acabado sin imprimir nada: usa print().", ...kept };
  },
});

async function run(db: Db, code: string, caller: Caller): Promise<ProgramAnswer> {
  const { userId, signal } = caller;
  const worker = new URL(`./program.worker${extname(import.meta.filename)}`, import.meta.url);
  try {
    return await queue.run(userId, async () => {
      signal.throwIfAborted();
      const job: ProgramJob = { code, files: await filesOf(db, caller) };
      return runWorker<ProgramAnswer>(worker, job, within, signal);
    });
  } catch (error) {
    signal.throwIfAborted();
    // A program that ends its process harms only itself.
    const isTooMuch = error instanceof TooMuch;
    const why = isTooMuch ? "El programa necesita demasiado tiempo o memoria." : "El programa ha fallado.";
    throw new ToolRefused(why, { cause: error });
  }
}

/** Whether identifiers are hidden from the model of the calling reply. */
async function isHidden(db: Db, { modelId, messageId }: Caller): Promise<boolean> {
  const model = db
    .selectFrom("models")
    .where("id", "=", modelId ?? "")
    .where("pseudonyms", "=", 1);
  // A reply with pseudonyms keeps identifiers hidden from the model that goes on with it.
  const reply = db.selectFrom("messages").where("parentId", "=", messageId).where("pseudonyms", "=", 1);
  const [one, other] = await Promise.all([
    model.select("id").executeTakeFirst(),
    reply.select("id").executeTakeFirst(),
  ]);
  return one !== undefined || other !== undefined;
}

/** Texts of the files that were sent in the caller's chat, the newest first as far as they fit, and of its artifacts. */
async function filesOf(db: Db, { chatId, userId }: Caller): Promise<ProgramFile[]> {
  const length = sql<number>`length("text")`.as("length");
  const sent = await db
    .selectFrom("files")
    .where("userId", "=", userId)
    .where("text", "is not", null)
    .where("id", "in", (e) =>
      e
        .selectFrom("attachments as a")
        .innerJoin("messages as m", "m.id", "a.messageId")
        .where("m.chatId", "=", chatId)
        .select("a.fileId"),
    )
    .orderBy("id", "desc")
    .limit(50)
    .select(["id", "name", length])
    .execute();
  const written = await db
    .selectFrom("artifacts as w")
    .innerJoin("artifactVersions as v", (join) =>
      join.onRef("v.artifactId", "=", "w.id").onRef("v.n", "=", "w.version"),
    )
    .where("w.chatId", "=", chatId)
    .where("w.userId", "=", userId)
    .limit(50)
    .select(["v.id", "w.title as name", length])
    .execute();
  let room = filesAtMost;
  const files: ProgramFile[] = [];
  for (const [table, found] of [["files", sent] as const, ["artifactVersions", written] as const]) {
    for (const { id, name, length } of found) {
      const fits = Number(length) <= room;
      if (fits) room -= Number(length);
      const row = fits ? await db.selectFrom(table).where("id", "=", id).select("text").executeTakeFirst() : undefined;
      files.push({ name, text: row?.text ?? null });
    }
  }
  return files;
}
