import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { FileRow } from "../../db/tables.ts";
import type { Keep, Sent } from "../../files/files.server.ts";
import { isImage } from "../../files/media-type.server.ts";
import { FileRefused } from "../../files/refused.server.ts";
import { isArchive, unpacked } from "../../files/unpack.server.ts";
import type { ReceivedFile } from "../../http/multipart.server.ts";
import { limits } from "../../process/limits.ts";
import { cutText } from "../../process/text/cut-text.ts";
import type { ApiEnv } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { takesBodyOf } from "../http/bodies.server.ts";
import { answerInvalid, invalid, Problem } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer } from "../http/schemas.server.ts";
import { writesInProject } from "../http/visibility.server.ts";
import { file, showFile } from "./files.server.ts";
import { multipartBody, textFields } from "./multipart-body.server.ts";
import { takePage } from "./web-page.server.ts";

const uploaded = z
  .object({
    items: z.array(file),
    refused: z.array(z.object({ name: z.string(), reason: z.string() })),
  })
  .openapi("Uploaded");

const form = z.object({
  files: z.array(z.any().openapi({ type: "string", format: "binary" })).optional(),
  temporary: z
    .string()
    .optional()
    .openapi({ description: "Con cualquier valor: se borra si en 24 horas no se envía." }),
  userId: z.string().optional().openapi({ description: "De quién son; solo puede ser quien los sube." }),
  projectId: z.string().optional().openapi({ description: "El proyecto del que son documentos." }),
  address: z
    .string()
    .optional()
    .openapi({ description: "La dirección de una página de internet que también se guarda." }),
});

// In ms: most documents are read by then, and whoever sends one learns at once if it can't be.
const patience = 10_000;

const route = {
  method: "post" as const,
  path: "/uploads" as const,
  security: bearer,
  responses: {
    201: answers(
      uploaded,
      "Los archivos guardados, y por qué no los demás. Los largos se siguen leyendo: lo dice su `state`.",
    ),
  },
};

/** Receives files one by one: a refused file says why and does not affect the others. */
export const uploads = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  // The body is parsed as a stream; the schema is only for the API document.
  createRoute({
    ...route,
    middleware: [signedIn, active, publishes("file"), takesBodyOf(limits.uploadBody)],
    hide: true,
  }),
  async (c) => {
    const { person, services } = c.var;
    const body = await multipartBody(c, limits.archive);
    try {
      const { temporary, userId, projectId, address = "" } = textFields(body);
      if (userId && userId !== person.id) throw invalid("userId", "Solo puedes subir archivos tuyos.");
      if (projectId && !(await writesInProject(services, person, projectId))) {
        throw invalid("projectId", "Ese proyecto no existe.");
      }
      const sent = body.files.filter(({ field }) => field === "files");
      if (sent.length === 0 && !address.trim()) {
        throw invalid("files", "Elige algún archivo, o escribe la dirección de una página.");
      }
      const keep = { userId: person.id, projectId: projectId ?? null, temporary: Boolean(temporary) };
      return c.json(await takeAll(c, sent, address.trim(), keep), 201);
    } finally {
      await body.discard();
    }
  },
);

uploads.openAPIRegistry.registerPath({
  ...route,
  request: { body: { content: { "multipart/form-data": { schema: form } }, required: true } },
});

async function takeAll(
  c: Context<ApiEnv>,
  sent: ReceivedFile[],
  address: string,
  keep: Keep,
): Promise<z.output<typeof uploaded>> {
  const { files } = c.var.services;
  const taken: FileRow[] = [];
  const answer: z.output<typeof uploaded> = { items: [], refused: [] };
  const orRefused = async (name: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof FileRefused)) throw error;
      answer.refused.push({ name: shortName(name), reason: error.message });
    }
  };
  const take = async (one: Sent, isPacked = false): Promise<void> => {
    await countAttempt(c, "upload", keep.userId);
    if (!(await isArchive(one.path, one.name))) return void taken.push(await files.take(one, keep));
    if (keep.temporary) throw new FileRefused("es un ZIP. Súbelo en tus archivos o en un proyecto, y se abre allí.");
    if (isPacked) throw new FileRefused("es un ZIP dentro de otro. Súbelo aparte.");
    await unpacked(one.path, async (packed) => {
      for (const each of packed) {
        await orRefused(each.name, async () => {
          if (each.refused) throw new FileRefused(each.refused);
          await take(each, true);
        });
      }
    });
  };
  for (const one of sent) await orRefused(one.name, () => take(one));
  if (address) await orRefused(address, () => withPageAt(c, address, take));
  // A file that was sent twice is one row.
  const different = [...new Map(taken.map((row) => [row.id, row])).values()];
  if (!keep.temporary) {
    // The text of photographed papers is read here. In a message, the model looks at the image.
    for (const row of different) if (isImage(row.mediaType) && row.text === null) await files.readPicture(row);
  }
  for (const row of await files.settled(different, patience)) {
    if (row.problem === null) answer.items.push(showFile(row));
    else answer.refused.push({ name: shortName(row.name), reason: row.problem });
  }
  const unread = taken.filter(({ id }) => !answer.items.some((item) => item.id === id));
  await files.delete(unread.map(({ id }) => id));
  if (answer.items.length > 0) return answer;
  const errors = answer.refused.map(({ name, reason }, index) => [`files.${index}`, `«${name}» ${reason}`]);
  throw new Problem(422, errors.map(([, sentence]) => sentence).join(" "), { errors: Object.fromEntries(errors) });
}

/** Takes the page at an address, if the person may have pages read. Throws FileRefused. */
async function withPageAt(c: Context<ApiEnv>, address: string, take: (page: Sent) => Promise<void>): Promise<void> {
  const { person, services } = c.var;
  await countAttempt(c, "page", person.id);
  if (!(await services.toolbox.readsPages(person.id))) {
    throw new FileRefused("no se puede guardar: aquí no puedes leer páginas de internet.");
  }
  const page = await takePage(address, person.id);
  await take(page).finally(page.discard);
}

/** A file name that is safe to quote in a sentence. */
const shortName = (name: string) => {
  const shown = name.replace(/[\p{Cc}\p{Cf}]+/gu, "");
  return shown.length > 60 ? `${cutText(shown, 57)}…` : shown;
};
