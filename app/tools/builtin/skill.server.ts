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
    },
    required: ["nombre"],
  },
  reachesOut: false,
  async call({ nombre, archivo }, { userId }) {
    const found = await skillCalled(db, userId, String(nombre ?? "").trim());
    if (!found) throw new ToolRefused("No hay ningún oficio con ese nombre. Usa uno de los que se te han dado.");
    const files = await db
      .selectFrom("skillFiles")
      .where("skillId", "=", found.id)
      .orderBy("path")
      .select(["path", "size"])
      .execute();
    const { name, version, content } = found;
    const path = String(archivo ?? "").trim();
    if (!path || path === "SKILL.md") {
      const list = files.map((file) => `- ${file.path} (${file.size.toLocaleString("es")} bytes)`).join("\n");
      const beside = list && `\n\nArchivos que se abren con «archivo»:\n${list}`;
      return { text: `Oficio «${name}», versión ${version}.\n\n${content}${beside}` };
    }
    const file = await db
      .selectFrom("skillFiles")
      .where("skillId", "=", found.id)
      .where("path", "=", path.replace(/^\.\//, ""))
      .select("text")
      .executeTakeFirst();
    if (!file) throw new ToolRefused(`«${name}» no tiene ese archivo. Sin «archivo» dice cuáles tiene.`);
    return { text: file.text };
  },
});
