import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasCredentials } from "../../files/pictures/generated-mark.server.ts";
import { FileRefused } from "../../files/refused.server.ts";
import type { Made } from "../../tools/tool.server.ts";
import type { Run } from "../running/run.server.ts";
import type { Calling, CallServices } from "./calling.server.ts";

/**
 * Keeps images as files of the person, and shows them in a reply at the text offset `at`. `sessionId`: session of a temporary chat, with
 * which the images are deleted. Answers why an image could not be kept.
 */
export async function keepImages(
  { db, log, files }: CallServices,
  run: Run,
  at: number,
  { userId, sessionId }: Pick<Calling, "userId" | "sessionId">,
  made: Made[],
): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "tertulia-imagen-"));
  try {
    for (const [index, { shows, ...image }] of made.entries()) {
      const path = join(folder, String(index));
      const { bytes, name } = image.generated ? await marked(image) : image;
      await writeFile(path, bytes);
      const sent = { path, name, size: bytes.byteLength };
      const file = await files.take(sent, { userId, projectId: null, temporary: false });
      if (sessionId) await db.updateTable("files").set({ sessionId }).where("id", "=", file.id).execute();
      const { id: fileId, width, height } = file;
      const now = Date.now();
      run.add({
        kind: "image",
        at,
        text: shows,
        startedAt: now,
        finishedAt: now,
        image: { fileId, width, height },
      });
    }
    return undefined;
  } catch (error) {
    if (!(error instanceof FileRefused)) {
      log.error({ userId, err: error }, "no se pudo guardar una imagen de una respuesta");
      return "La imagen no se ha podido guardar.";
    }
    return `La imagen no se ha podido guardar: ${error.message}`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** An image made by a model, marked as such for machines. With its provider's credentials it stays unchanged, and its name says so. */
async function marked({ bytes, name }: Omit<Made, "shows">): Promise<Omit<Made, "shows">> {
  if (hasCredentials(bytes)) return { bytes, name: name.replace(/(\.\w+)?$/, " con credenciales C2PA$1") };
  const { markGenerated } = await import("../../files/pictures/images.server.ts");
  return { bytes: await markGenerated(bytes), name };
}
