import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Db } from "../db/engine.server.ts";
import type { ArtifactRow } from "../db/tables.ts";
import type { Files } from "../files/files.server.ts";
import { FileRefused } from "../files/refused.server.ts";
import { type JobAtWork, JobFailed, type JobRules, type Jobs } from "../jobs/jobs.server.ts";
import { textOf } from "./artifacts.server.ts";
import { fileNameOf } from "./file-name.ts";

type KeepServices = { db: Db; files: Files; jobs: Jobs };

// In ms: a file whose previous text is still being read is renewed after this time.
const againAfter = 2_000;

/** Keeps the newest version of an artifact as a file of its owner: found by search, shown to its project, sent with messages. */
export const keepingArtifacts = (services: KeepServices): JobRules => ({
  atOnce: 2,
  retries: [10_000, 60_000, 10 * 60_000],
  work: (job) => keep(services, job),
});

async function keep({ db, files, jobs }: KeepServices, { subjectId }: JobAtWork): Promise<void> {
  const artifact = await db.selectFrom("artifacts").where("id", "=", subjectId).selectAll().executeTakeFirst();
  if (!artifact || artifact.version === 0 || artifact.sessionId !== null) return;
  const text = await textOf(db, artifact);
  // There are no empty files.
  if (text === "") {
    if (artifact.fileId !== null) await files.delete([artifact.fileId]);
    return;
  }
  const before = await db
    .selectFrom("files")
    .where("id", "=", artifact.fileId ?? "")
    .selectAll()
    .executeTakeFirst();
  if (before && before.ready === 0 && before.problem === null) {
    const { userId, id } = artifact;
    await jobs.add({ kind: "artifact", userId, subjectId: id, dueAt: Date.now() + againAfter });
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), "tertulia-escrito-"));
  try {
    const path = join(folder, "escrito");
    await writeFile(path, text);
    const name = fileNameOf(artifact);
    const sent = { path, name, size: Buffer.byteLength(text) };
    if (!before) await take(db, files, artifact, sent);
    else {
      const { projectId } = artifact;
      await db.updateTable("files").set({ name, projectId }).where("id", "=", before.id).execute();
      await files.replace({ ...before, name }, sent, null);
    }
  } catch (error) {
    throw error instanceof FileRefused ? new JobFailed(error.message, { cause: error }) : error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function take(
  db: Db,
  files: Files,
  { id, userId, projectId }: ArtifactRow,
  sent: Parameters<Files["take"]>[0],
): Promise<void> {
  const file = await files.take(sent, { userId, projectId, temporary: false, isOwn: true });
  const kept = await db
    .updateTable("artifacts")
    .set({ fileId: file.id })
    .where("id", "=", id)
    .where("fileId", "is", null)
    .executeTakeFirst();
  // The artifact was deleted meanwhile, or the same job in another process has stored it.
  if (kept.numUpdatedRows === 0n) await files.delete([file.id]);
}
