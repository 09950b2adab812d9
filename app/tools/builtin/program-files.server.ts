import { ArtifactRefused, type Artifacts } from "../../artifacts/artifacts.server.ts";
import type { Db } from "../../db/engine.server.ts";
import type { ArtifactRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import type { Caller } from "../tool.server.ts";
import type { SavedFile } from "./program.worker.ts";

// Kinds by the extension of the file name; any other extension names the language of code.
const tables = ["csv", "tsv"];
const texts = ["md", "txt", ""];
const languages: Record<string, string> = { "vl.json": "vega-lite", js: "javascript", py: "python", mmd: "mermaid" };

/** Title, kind and language of the artifact that a file with this name becomes. */
export function headOfFile(name: string): Pick<ArtifactRow, "title" | "kind" | "language"> {
  const [, stem = name, end = ""] = /^(.{1,300}?)\.(vl\.json|[a-z0-9]{1,10})$/i.exec(name) ?? [];
  const title = stem.replace(/\s+/g, " ").trim().slice(0, limits.chatTitle).toWellFormed() || "Sin título";
  const ends = end.toLowerCase();
  if (tables.includes(ends)) return { title, kind: "table", language: null };
  if (texts.includes(ends)) return { title, kind: "text", language: null };
  return { title, kind: "code", language: languages[ends] ?? ends };
}

/**
 * Keeps the files of a program as artifacts of its chat. An artifact of the same title and kind gets another version, so that a program
 * that runs again leaves no duplicates. `said`: a Spanish line for each file; `artifactId`: id of the first artifact kept.
 */
export async function keepFiles(
  { db, artifacts }: { db: Db; artifacts: Artifacts },
  files: SavedFile[],
  { userId, chatId, projectId, sessionId, modelId, isTold }: Caller,
): Promise<{ said: string[]; artifactId?: string }> {
  if (files.length === 0) return { said: [] };
  const chat = db.selectFrom("chats").where("id", "=", chatId).where("userId", "=", userId).select("id");
  if (!(await chat.executeTakeFirst())) return { said: ["Aquí no se guarda nada: no hay conversación."] };
  const said: string[] = [];
  let artifactId: string | undefined;
  const outside = (await isTold?.()) ?? false;
  for (const { name, text } of files) {
    const head = headOfFile(name);
    const before = await db
      .selectFrom("artifacts")
      .where("chatId", "=", chatId)
      .where("userId", "=", userId)
      .where("title", "=", head.title)
      .where("kind", "=", head.kind)
      .where("version", ">", 0)
      .selectAll()
      .executeTakeFirst();
    const written = { text, reason: "De un programa", writer: { modelId }, outside };
    try {
      const kept = before
        ? await artifacts.change(before, { ...head, written })
        : await artifacts.add({ userId, chatId, projectId, sessionId }, head, written);
      artifactId ??= kept?.id;
      said.push(
        kept
          ? `Guardado en el escrito ${kept.n}, «${kept.title}». La persona lo tiene en sus escritos: no lo repitas.`
          : `«${name}» no se ha guardado: ha cambiado mientras tanto.`,
      );
    } catch (error) {
      if (!(error instanceof ArtifactRefused)) throw error;
      said.push(`«${name}» no se ha guardado. ${error.message}`);
    }
  }
  return { said, ...(artifactId !== undefined && { artifactId }) };
}
