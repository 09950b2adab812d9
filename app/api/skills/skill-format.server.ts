import { parse, YAMLParseError } from "yaml";
import { limits } from "../../process/limits.ts";
import { invalid } from "../http/problem.server.ts";

/** A skill as its `SKILL.md` says it. */
export type ReadSkill = { name: string; description: string; content: string };

// In characters, of what stands between the two lines of hyphens.
const longestHead = 20_000;

/** A name as the open format has it: small letters without accents, digits and hyphens. */
export const skillName = (typed: string): string =>
  typed
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, limits.skillName)
    .replace(/-$/, "");

/** Reads a `SKILL.md`: YAML with name and description between lines of hyphens, then the instructions. Throws 422. */
export function readSkill(text: string): ReadSkill {
  const [, head, content] = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n([\s\S]*))?$/.exec(text) ?? [];
  if (head === undefined) {
    throw invalid("files", "SKILL.md empieza por una línea «---», con el nombre y para qué sirve, y otra línea «---».");
  }
  if (head.length > longestHead)
    throw invalid("files", "Lo que hay entre las líneas «---» de SKILL.md es demasiado largo.");
  const fields = fieldsIn(head);
  const { name } = fields;
  const description = typeof fields.description === "string" ? fields.description.replaceAll("\0", "").trim() : "";
  if (typeof name !== "string" || !skillName(name)) throw invalid("files", "A SKILL.md le falta «name», su nombre.");
  if (!description) {
    throw invalid("files", "A SKILL.md le falta «description»: qué hace y cuándo usarlo.");
  }
  return {
    name: skillName(name),
    description: description.slice(0, limits.skillDescription).toWellFormed(),
    content: (content ?? "").trim(),
  };
}

function fieldsIn(head: string): Record<string, unknown> {
  try {
    // Without YAML aliases, with which a short text can expand into a long one.
    const said: unknown = parse(head, { maxAliasCount: 0, schema: "failsafe", logLevel: "error" });
    return typeof said === "object" && said !== null && !Array.isArray(said) ? { ...said } : {};
  } catch (error) {
    const at = error instanceof YAMLParseError ? error.linePos?.[0].line : undefined;
    const where = at === undefined ? "" : `, en la línea ${at + 1}`;
    throw invalid(
      "files",
      `Lo que hay entre las líneas «---» de SKILL.md no es YAML${where}. Pon los textos entre comillas.`,
    );
  }
}
