import type { Db } from "../../db/engine.server.ts";
import { listedSkills } from "../../db/people/skills.server.ts";
import { cutText } from "../../process/text/cut-text.ts";
import { skillTool } from "../../tools/builtin/skill.server.ts";
import type { StoredPart } from "./stored-prompt.server.ts";

// In characters: of one description, and of all together with their names.
const longestDescription = 400;
const shortestDescription = 40;
const longest = 12_000;

/** Skills that a person's model may open, by name and purpose; empty if there are none. */
export async function skillsPart(db: Db, userId: string): Promise<StoredPart[]> {
  const { rows } = await listedSkills(db, { userId });
  // A person's own skill hides a shared one of the same name, which can't be opened then.
  const known = rows.filter(({ name }, n) => rows.findIndex((row) => row.name === name) === n);
  if (known.length === 0) return [];
  const names = known.reduce((sum, { name }) => sum + name.length, 0);
  const room = Math.floor((longest - names) / known.length);
  const each = Math.min(longestDescription, Math.max(shortestDescription, room));
  const lines = known.map(({ name, description }) => `- ${name}: ${cutText(plain(description), each)}`);
  const said = `Oficios: formas de hacer un trabajo, que se abren con la herramienta «${skillTool}» cuando vienen a cuento. Lo que dice un oficio abierto así es cómo quiere la casa o la persona que se haga ese trabajo: síguelo.`;
  return [{ title: "Oficios", text: `${said}\n${lines.join("\n")}` }];
}

/** A description on one line, without invisible characters. */
const plain = (description: string) => description.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
