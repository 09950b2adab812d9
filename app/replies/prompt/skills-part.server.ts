import type { Db } from "../../db/engine.server.ts";
import { listedSkills } from "../../db/people/skills.server.ts";
import { cutText } from "../../process/text/cut-text.ts";
import { skillTool } from "../../tools/builtin/skill.server.ts";
import type { StoredPart } from "./stored-prompt.server.ts";

// In characters: of one description, and of all together.
const longestDescription = 400;
const longest = 12_000;

/** Skills that a person's model may open, by name and purpose; none where there are none. */
export async function skillsPart(db: Db, userId: string): Promise<StoredPart[]> {
  const { rows } = await listedSkills(db, { userId });
  let left = longest;
  const lines = rows.flatMap(({ name, description }, n) => {
    // A person's own comes before a shared one of the same name, which can't be opened then.
    if (rows.findIndex((row) => row.name === name) < n) return [];
    const line = `- ${name}: ${cutText(description.replace(/\s+/g, " "), longestDescription)}`;
    left -= line.length + 1;
    return left < 0 ? [] : [line];
  });
  if (lines.length === 0) return [];
  const said = `Oficios: formas de hacer un trabajo, que se abren con la herramienta «${skillTool}» cuando vienen a cuento.`;
  return [{ title: "Oficios", text: `${said}\n${lines.join("\n")}` }];
}
