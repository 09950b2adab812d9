import { ArtifactRefused, type Artifacts, textOf, type Written } from "../../artifacts/artifacts.server.ts";
import { findPassage } from "../../artifacts/passage.server.ts";
import type { Db } from "../../db/engine.server.ts";
import type { ArtifactKind, ArtifactRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { cutText } from "../../process/text/cut-text.ts";
import { type Caller, type Outcome, type OwnTool, ToolRefused } from "../tool.server.ts";

/** Name of the tool whose text is shown while a model writes it. */
export const writingTool = "escribir";

type ArtifactServices = { db: Db; artifacts: Artifacts };
type Input = Record<string, unknown>;

const kinds: Record<string, ArtifactKind> = { texto: "text", tabla: "table", codigo: "code" };
const number = { type: "integer", title: "Número del escrito" };
// In characters, around a word that is looked for.
/** Values by which models leave `escrito` out; they fill in optional fields, too. */
const nothingTyped: unknown[] = [undefined, null, 0, "", "0"];
const around = 600;
const foundAtMost = 12;

const writingSchema = {
  type: "object",
  properties: {
    titulo: { type: "string", title: "Título" },
    tipo: {
      type: "string",
      title: "Clase",
      enum: Object.keys(kinds),
      description:
        "texto: Markdown; tabla: CSV con una primera fila de nombres; codigo: un programa, o un dibujo o una página, que se ven como tales (mermaid, dot, vega-lite, svg, html)",
    },
    lenguaje: {
      type: "string",
      title: "Lenguaje",
      description:
        "Solo de un programa, un dibujo o una página: python, mermaid, html… Una página va entera: no puede cargar nada de fuera (bibliotecas, letras, imágenes), ni usar alert, confirm o prompt; lo que guarde en localStorage dura mientras está abierta.",
    },
    escrito: { ...number, description: "Solo para rehacer uno: su número" },
    motivo: { type: "string", title: "Motivo", description: "Por qué, en pocas palabras" },
    texto: { type: "string", title: "Texto", description: "El texto entero" },
  },
  required: ["titulo", "texto"],
};

/** «Escritos»: texts beside the conversation, which models write, change and read again. */
export const artifactTools = (services: ArtifactServices): OwnTool[] => [
  {
    tool: writingTool,
    label: "Escribir",
    description:
      "Escribe un texto largo (un informe, una carta, una tabla, un programa) como un escrito aparte, que la persona ve junto a la conversación, cambia y descarga. Úsalo cuando lo que pide es un documento, no para contestar. Para rehacer entero uno que ya está, da su número en «escrito». No repitas después el texto en tu respuesta.",
    schema: writingSchema,
    reachesOut: false,
    readOnly: false,
    call: (input, caller) => write(services, input, caller),
  },
  {
    tool: "cambiar",
    label: "Cambiar un escrito",
    description:
      "Cambia un pasaje de un escrito de esta conversación. Copia el pasaje exactamente como está, con bastante texto para que solo haya uno, y da lo que lo sustituye; vacío lo quita.",
    schema: {
      type: "object",
      properties: {
        escrito: number,
        motivo: { type: "string", title: "Motivo", description: "Por qué, en pocas palabras" },
        pasaje: { type: "string", title: "Pasaje", description: "El texto que hay ahora" },
        por: { type: "string", title: "Por", description: "El texto que lo sustituye" },
      },
      required: ["escrito", "pasaje", "por"],
    },
    reachesOut: false,
    readOnly: false,
    call: (input, caller) => replace(services, input, caller),
  },
  {
    tool: "leer_escrito",
    label: "Leer un escrito",
    description:
      "Lee un escrito de esta conversación que es demasiado largo para venir entero: desde una letra, o los pasajes en los que está una palabra.",
    schema: {
      type: "object",
      properties: {
        escrito: number,
        desde: { type: "integer", title: "Desde", description: "La letra por la que se empieza; 0 es el comienzo" },
        busca: { type: "string", title: "Busca", description: "Palabras que se buscan en él" },
      },
      required: ["escrito"],
    },
    reachesOut: false,
    call: (input, caller) => read(services, input, caller),
  },
];

/** Fields of a call of `escribir`, of which the text may still be coming. */
export const headOf = ({ titulo, tipo, lenguaje }: Input): Pick<ArtifactRow, "title" | "kind" | "language"> => {
  const kind = kinds[textIn(tipo)] ?? "text";
  const title = textIn(titulo).replace(/\s+/g, " ").trim().slice(0, limits.chatTitle).toWellFormed();
  const language = textIn(lenguaje).trim().slice(0, 40).toWellFormed();
  return { title: title || "Sin título", kind, language: kind === "code" && language ? language : null };
};

async function write({ db, artifacts }: ArtifactServices, input: Input, caller: Caller): Promise<Outcome> {
  const text = textIn(input.texto);
  if (!text.trim()) throw new ToolRefused("El escrito no tiene texto.");
  const head = headOf(input);
  const written = await versionOf(caller, text, input);
  const isNew = nothingTyped.includes(input.escrito);
  const begun = caller.artifactId === undefined ? undefined : await beingWritten(db, caller.artifactId);
  if (isNew && caller.artifactId !== undefined && !begun) throw new ToolRefused("La persona ha eliminado ese escrito.");
  const before = isNew ? begun : await numbered(db, caller, input.escrito);
  const row = await refused(async () =>
    before
      ? ((await artifacts.change(before, { ...head, written })) ?? changed())
      : artifacts.add(placeOf(caller), head, written),
  );
  // The number of the artifact came after the text, which was taken for a new artifact until then.
  if (!isNew && begun) await artifacts.drop(begun.id);
  return told(row, text);
}

const beingWritten = (db: Db, id: string) =>
  db.selectFrom("artifacts").where("id", "=", id).where("version", "=", 0).selectAll().executeTakeFirst();

const versionOf = async ({ modelId, isTold }: Caller, text: string, { motivo }: Input): Promise<Written> => ({
  ...{ text, reason: textIn(motivo), writer: { modelId } },
  outside: (await isTold?.()) ?? false,
});

async function replace({ db, artifacts }: ArtifactServices, input: Input, caller: Caller): Promise<Outcome> {
  const before = await numbered(db, caller, input.escrito);
  const text = await textOf(db, before);
  const found = findPassage(text, textIn(input.pasaje));
  if (!found) {
    throw new ToolRefused("Ese pasaje no está en el escrito. Cópialo exactamente, o léelo antes con «leer_escrito».");
  }
  if (found.count > 1) {
    throw new ToolRefused(`Ese pasaje está ${found.count} veces en el escrito. Copia más texto de alrededor.`);
  }
  const now = text.slice(0, found.start) + textIn(input.por) + text.slice(found.end);
  const written = await versionOf(caller, now, input);
  return told(await refused(async () => (await artifacts.change(before, { written })) ?? changed()), now);
}

async function read({ db }: ArtifactServices, { escrito, desde, busca }: Input, caller: Caller): Promise<Outcome> {
  const row = await numbered(db, caller, escrito);
  const text = await textOf(db, row);
  const words = textIn(busca).trim().toLowerCase();
  if (words) return { text: placesOf(text, words) || `«${words.slice(0, 100)}» no está en el escrito.` };
  const from = Math.min(Math.max(0, Math.trunc(Number(desde) || 0)), text.length);
  const room = Math.max(1_000, caller.length - 200);
  const part = cutText(text.slice(from), room);
  const left = text.length - from - part.length;
  return { text: left > 0 ? `${part}\n[Siguen ${left} letras: pide «desde» ${from + part.length}.]` : part };
}

/** Passages of a text that have these words, each with its place. */
function placesOf(text: string, words: string): string {
  const lower = text.toLowerCase();
  const places: string[] = [];
  for (let at = lower.indexOf(words); at >= 0 && places.length < foundAtMost; ) {
    const start = Math.max(0, at - around / 2);
    places.push(`[desde ${start}] ${text.slice(start, at + words.length + around / 2).toWellFormed()}`);
    at = lower.indexOf(words, at + words.length + around / 2);
  }
  return places.join("\n\n");
}

const told = ({ id, n, title, version }: ArtifactRow, text: string): Outcome => ({
  text: `Hecho: el escrito ${n}, «${title}», tiene la versión ${version}, de ${text.length} letras. La persona ya lo ve: no lo repitas.`,
  artifactId: id,
});

const changed = (): never => {
  throw new ToolRefused("El escrito ha cambiado mientras tanto. Léelo otra vez con «leer_escrito».");
};

/** The artifact with this number in the caller's chat. Throws ToolRefused. */
async function numbered(db: Db, { chatId, userId }: Caller, n: unknown): Promise<ArtifactRow> {
  const rows = await db
    .selectFrom("artifacts")
    .where("chatId", "=", chatId)
    .where("userId", "=", userId)
    .where("version", ">", 0)
    .orderBy("n")
    .selectAll()
    .execute();
  const found = rows.find((row) => Number(row.n) === Number(n));
  if (found) return found;
  const there = rows.map((row) => `${row.n} («${row.title}»)`).join(", ");
  throw new ToolRefused(
    there ? `No hay ningún escrito ${String(n).slice(0, 20)}. Los que hay: ${there}.` : "Aquí no hay escritos todavía.",
  );
}

const textIn = (value: unknown): string => (typeof value === "string" ? value : "");
const placeOf = ({ userId, chatId, projectId, sessionId }: Caller) => ({ userId, chatId, projectId, sessionId });

async function refused<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ArtifactRefused ? new ToolRefused(error.message, { cause: error }) : error;
  }
}
