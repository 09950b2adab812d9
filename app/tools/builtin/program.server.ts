import { extname } from "node:path";
import type { Db } from "../../db/engine.server.ts";
import { runWorker, TooMuch } from "../../process/child-process.server.ts";
import { FairQueue } from "../../process/work/fair-queue.server.ts";
import { type Caller, type OwnTool, ToolRefused } from "../tool.server.ts";
import type { ProgramAnswer, ProgramFile, ProgramJob } from "./program.worker.ts";

// In characters: of a program, and of the files that it is given together.
const longest = 50_000;
const filesAtMost = 8_000_000;
// In ms, with the start of its process.
const within = 12_000;
// Two at once, one of them for each person.
const queue = new FairQueue(2);

/** «Calcular con un programa»: JavaScript in WebAssembly, in a child process without network and files but the texts of the chat. */
export const program = ({ db }: { db: Db }): OwnTool => ({
  tool: "ejecutar_programa",
  label: "Calcular con un programa",
  description:
    "Ejecuta un programa en JavaScript y devuelve lo que imprime con print(). Úsalo para cualquier cuenta con datos, en lugar de calcular de cabeza. Los archivos de la conversación están en archivo('nombre'): .texto y .filas (objetos por los nombres de las columnas, con textos). Hay numero('1.234,56'), suma(filas, 'campo'), media(filas, 'campo'), agrupar(filas, 'campo') y tabla(filas), que imprime una tabla. No hay red, ni esperas, ni otras bibliotecas.",
  schema: {
    type: "object",
    properties: { codigo: { type: "string", title: "Programa", description: "JavaScript, sin import ni await" } },
    required: ["codigo"],
  },
  // Files of others come into the prompt by it.
  reachesOut: true,
  async call({ codigo }, caller) {
    const code = String(codigo ?? "");
    if (!code.trim()) throw new ToolRefused("No hay ningún programa.");
    if (code.length > longest) throw new ToolRefused("El programa es demasiado largo.");
    const { printed, problem, isLate } = await run({ code, files: await filesOf(db, caller) }, caller.userId);
    if (isLate) throw new ToolRefused("El programa no ha acabado en 10 segundos.");
    if (problem)
      throw new ToolRefused(`El programa ha fallado: ${problem}${printed && `\nHabía impreso:\n${printed}`}`);
    return { text: printed.trim() || "El programa ha acabado sin imprimir nada: usa print()." };
  },
});

async function run(job: ProgramJob, userId: string): Promise<ProgramAnswer> {
  const worker = new URL(`./program.worker${extname(import.meta.filename)}`, import.meta.url);
  try {
    return await queue.run(userId, () => runWorker<ProgramAnswer>(worker, job, within));
  } catch (error) {
    // One that ends its process costs itself.
    const isTooMuch = error instanceof TooMuch;
    const why = isTooMuch ? "El programa necesita demasiado tiempo o memoria." : "El programa ha fallado.";
    throw new ToolRefused(why, { cause: error });
  }
}

/** Texts of the files that were sent in the caller's chat, the newest first as far as they fit, and of its artifacts. */
async function filesOf(db: Db, { chatId, userId }: Caller): Promise<ProgramFile[]> {
  const sent = await db
    .selectFrom("attachments as a")
    .innerJoin("messages as m", "m.id", "a.messageId")
    .innerJoin("files as f", "f.id", "a.fileId")
    .where("m.chatId", "=", chatId)
    .where("f.userId", "=", userId)
    .where("f.text", "is not", null)
    .orderBy("a.messageId", "desc")
    .limit(50)
    .select(["f.name", "f.text"])
    .execute();
  const written = await db
    .selectFrom("artifacts as w")
    .innerJoin("artifactVersions as v", (join) =>
      join.onRef("v.artifactId", "=", "w.id").onRef("v.n", "=", "w.version"),
    )
    .where("w.chatId", "=", chatId)
    .where("w.userId", "=", userId)
    .limit(50)
    .select(["w.title as name", "v.text"])
    .execute();
  let room = filesAtMost;
  return [...sent, ...written].flatMap(({ name, text }) => {
    room -= text?.length ?? 0;
    return text && room >= 0 ? { name, text } : [];
  });
}
