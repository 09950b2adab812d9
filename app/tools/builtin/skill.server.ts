import type { Db } from "../../db/engine.server.ts";
import { skillCalled } from "../../db/people/skills.server.ts";
import { type OwnTool, ToolRefused } from "../tool.server.ts";

/** Name of the tool that is offered only where its person has skills. */
export const skillTool = "oficio";

/** «Oficios»: the instructions of a skill, and the texts that come with it. */
export const skill = ({ db }: { db: Db }): OwnTool => ({
  tool: skillTool,
  label: "Abrir un oficio",
  description:
    "Abre un oficio de los que se nombran en las instrucciones y devuelve cómo se hace ese trabajo; con «archivo», uno de los textos que lo acompañan. Ábrelo antes de empezar un trabajo para el que sirve.",
  schema: {
    type: "object",
    properties: {
      nombre: { type: "string", title: "Oficio", description: "Su nombre, tal como se ha dado" },
      archivo: {
        type: "string",
        title: "Archivo",
        description: "Uno de sus archivos, por su ruta. Sin él, las instrucciones",
      },
      desde: {
        type: "integer",
        title: "Desde",
        description: "De un texto largo, desde qué carácter; lo dice la parte anterior",
      },
    },
    required: ["nombre"],
  },
  reachesOut: false,
  async call({ nombre, archivo, desde }, { userId }) {
    const found = await skillCalled(db, userId, said(nombre));
    if (!found) throw new ToolRefused("No hay ningún oficio con ese nombre. Usa uno de los que se te han dado.");
    const files = await db
      .selectFrom("skillFiles")
      .where("skillId", "=", found.id)
      .orderBy("path")
      .select(["path", "size"])
      .execute();
    const { name, version, content } = found;
    const path = said(archivo).replace(/^\.\//, "");
    const from = Math.max(0, Math.floor(Number(desde) || 0));
    if (!path || path === "SKILL.md") {
      const list = files.map((file) => `- ${file.path} (${Number(file.size).toLocaleString("es")} bytes)`).join("\n");
      const beside = list && from === 0 ? `Archivos que se abren con «archivo»:\n${list}\n\n` : "";
      return { text: `Oficio «${name}», versión ${version}.\n\n${beside}${partOf(content, from)}` };
    }
    const file = await db
      .selectFrom("skillFiles")
      .where("skillId", "=", found.id)
      .where("path", "=", path)
      .select("text")
      .executeTakeFirst();
    if (!file) throw new ToolRefused(`«${name}» no tiene ese archivo. Sin «archivo» dice cuáles tiene.`);
    return { text: partOf(file.text, from) };
  },
});

const said = (value: unknown) => (typeof value === "string" ? value.replaceAll("\0", "").trim() : "");

// In characters: less than an answer of a tool may have.
const partLength = 24_000;

/** A part of a long text, and how to get the next part. */
function partOf(text: string, from: number): string {
  const part = text.slice(from, from + partLength).toWellFormed();
  const next = from + partLength;
  return next < text.length ? `${part}\n\n[Sigue: pide lo que falta con «desde»: ${next}.]` : part;
}
