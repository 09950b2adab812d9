import { readFile } from "node:fs/promises";
import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Trx } from "../../db/engine.server.ts";
import { isTaken } from "../../db/errors.server.ts";
import { planWithoutRoom } from "../../db/people/storage-use.server.ts";
import { newRow } from "../../db/rows.server.ts";
import type { SkillRow } from "../../db/tables.ts";
import { FileRefused } from "../../files/refused.server.ts";
import { isArchive, type Unpacked, unpacked } from "../../files/unpack.server.ts";
import { limits } from "../../process/limits.ts";
import type { ApiEnv } from "../env.server.ts";
import { multipartBody } from "../files/multipart-body.server.ts";
import { active, isAdmin, signedIn } from "../http/authentication.server.ts";
import { takesBodyOf } from "../http/bodies.server.ts";
import { answerInvalid, invalid, notFound } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, id, idParam } from "../http/schemas.server.ts";
import { type ReadSkill, readSkill } from "./skill-format.server.ts";
import { seesSkill, shownSkill, skills, tooMany } from "./skills.server.ts";

const common = { security: bearer, middleware: [signedIn, active] };
const file = z.object({ id: z.string(), path: z.string(), size: z.number() });

/** A skill that the person may use. Throws 404. */
const findSkill = ({ var: { person, services } }: Context<ApiEnv>, skillId: string): Promise<SkillRow> =>
  services.db
    .selectFrom("skills")
    .where("id", "=", skillId)
    .where(seesSkill(person))
    .selectAll()
    .executeTakeFirstOrThrow(notFound);

const listFilesRoute = createRoute({
  method: "get",
  path: "/{id}/files",
  ...common,
  request: { params: idParam },
  responses: { 200: answers(z.object({ items: z.array(file) }), "Los textos que acompañan a un oficio.") },
});
const listFiles: RouteHandler<typeof listFilesRoute, ApiEnv> = async (c) => {
  const skill = await findSkill(c, c.req.valid("param").id);
  const rows = await c.var.services.db
    .selectFrom("skillFiles")
    .where("skillId", "=", skill.id)
    .orderBy("path")
    .select(["id", "path", "size"])
    .execute();
  return c.json({ items: rows.map((row) => ({ ...row, size: Number(row.size) })) }, 200);
};

const readFileRoute = createRoute({
  method: "get",
  path: "/{id}/files/{fileId}",
  ...common,
  request: { params: idParam.extend({ fileId: id.openapi({ param: { name: "fileId", in: "path" } }) }) },
  responses: { 200: answers(file.extend({ text: z.string() }), "Uno de ellos.") },
});
const readOne: RouteHandler<typeof readFileRoute, ApiEnv> = async (c) => {
  const { id: skillId, fileId } = c.req.valid("param");
  const skill = await findSkill(c, skillId);
  const row = await c.var.services.db
    .selectFrom("skillFiles")
    .where("skillId", "=", skill.id)
    .where("id", "=", fileId)
    .select(["id", "path", "size", "text"])
    .executeTakeFirstOrThrow(notFound);
  return c.json({ ...row, size: Number(row.size) }, 200);
};

const uploaded = z
  .object({
    skill: shownSkill,
    left: z.array(z.string()).openapi({ description: "Archivos que se han dejado fuera, con el porqué." }),
  })
  .openapi("UploadedSkill");
const upload = {
  method: "post" as const,
  path: "/upload" as const,
  security: bearer,
  responses: { 201: answers(uploaded, "El oficio; uno que ya había con su nombre tiene otra versión.") },
};
const uploadRoute = createRoute({
  ...upload,
  middleware: [...common.middleware, publishes("skill"), takesBodyOf(2 * limits.skillSize + limits.formBody)],
  hide: true,
});
const uploadSkill: RouteHandler<typeof uploadRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  await countAttempt(c, "import", person.id);
  const body = await multipartBody(c, 2 * limits.skillSize);
  try {
    const [sent] = body.files;
    if (!sent) throw invalid("files", "Elige el archivo del oficio: un ZIP, o un SKILL.md.");
    const { skill, files, left } = (await isArchive(sent.path, sent.name))
      ? await unpacked(sent.path, readFolder).catch(refuse)
      : { skill: readSkill(textIn(await readFile(sent.path)) ?? notText()), files: [], left: [] };
    if (skill.content === "")
      throw invalid("files", "SKILL.md no dice cómo se hace: falta el texto tras la segunda línea «---».");
    if (skill.content.length > limits.skillContent) {
      throw invalid(
        "files",
        `Las instrucciones de SKILL.md pasan de ${limits.skillContent.toLocaleString("es")} caracteres. Lleva lo largo a otro archivo del ZIP.`,
      );
    }
    const before = await services.db
      .selectFrom("skills")
      .leftJoin("skillFiles", "skillFiles.skillId", "skills.id")
      .where("skills.userId", "=", person.id)
      .where("name", "=", skill.name)
      .groupBy(["skills.id", "skills.shared"])
      .select(["skills.shared", sql<number>`coalesce(sum(size), 0)`.as("size")])
      .executeTakeFirst();
    if (before?.shared === 1 && !isAdmin(person)) {
      throw invalid("files", "El oficio de ese nombre lo usan todos, y eso solo lo cambia quien administra.");
    }
    const more = files.reduce((sum, { size }) => sum + size, 0) - Number(before?.size ?? 0);
    const full = await planWithoutRoom(services.db, person.id, more);
    if (full !== undefined) {
      throw invalid("files", `Tu plan guarda ${full.toLocaleString("es")} MB y ya no cabe más.`);
    }
    const now = services.clock.now();
    const row = await services.db
      .transaction()
      .execute((trx) => store(trx, person.id, { skill, files, now }))
      .catch((error) => {
        throw isTaken(error) ? invalid("files", "Se estaba subiendo a la vez. Súbelo otra vez.") : error;
      });
    return c.json({ skill: skills.show(row, c.var), left }, 201);
  } finally {
    await body.discard();
  }
};

function refuse(error: unknown): never {
  if (error instanceof FileRefused) throw invalid("files", `El archivo ${error.message}`);
  throw error;
}

const notText = (): never => {
  throw invalid("files", "Ese archivo no es un ZIP ni un texto: un oficio es un SKILL.md, o un ZIP que lo lleva.");
};

type TextFile = { path: string; text: string; size: number };
type Folder = { skill: ReadSkill; files: TextFile[]; left: string[] };

/** The folder of a skill, as it came out of a ZIP: with `SKILL.md` at its root, or in its only folder. Throws 422. */
async function readFolder(unpackedFiles: Unpacked[]): Promise<Folder> {
  const heads = unpackedFiles.filter(({ name }) => /^(?:[^/\\]+\/)?SKILL\.md$/i.test(name));
  const head = heads.toSorted((a, b) => a.name.length - b.name.length)[0];
  if (!head) throw invalid("files", "En el ZIP no hay ningún SKILL.md, ni en su primera carpeta.");
  const root = head.name.slice(0, -"SKILL.md".length);
  if (head.refused) throw invalid("files", `SKILL.md ${head.refused}`);
  const others = unpackedFiles.filter((one) => one !== head && one.name.startsWith(root));
  const outside = unpackedFiles.filter(({ name }) => !name.startsWith(root));
  const files: TextFile[] = [];
  const left = outside.map(({ name }) => `«${name.slice(0, 100)}» está fuera de la carpeta del oficio.`);
  let room: number = limits.skillSize;
  for (const one of others) {
    const path = one.name.slice(root.length);
    const isKnown = /^SKILL\.md$/i.test(path) || files.some((file) => file.path === path);
    const read = isKnown
      ? { refused: "está dos veces: vale la primera." }
      : one.refused
        ? { refused: one.refused }
        : await readOther(one, path, { room, count: files.length });
    if ("refused" in read) left.push(`«${path.slice(0, 100)}» ${read.refused}`);
    else {
      files.push(read);
      room -= read.size;
    }
  }
  return { skill: readSkill(textIn(await readFile(head.path)) ?? notText()), files, left };
}

async function readOther(
  { path: place, size }: Unpacked,
  path: string,
  { room, count }: { room: number; count: number },
): Promise<TextFile | { refused: string }> {
  if (!isPlain(path)) return { refused: "tiene una ruta que no se admite." };
  if (count >= limits.skillFiles) return { refused: `no cabe: son ${limits.skillFiles} archivos como mucho.` };
  if (size > Math.min(limits.skillFile, room)) return { refused: "pesa demasiado." };
  const text = textIn(await readFile(place));
  return text === undefined ? { refused: "no es un texto." } : { path, text, size };
}

/** Whether a path stays below its folder, and fits on one line. */
const isPlain = (path: string) =>
  path.length <= limits.fileName &&
  !/[\\\p{Cc}]|^\/|^[a-z]:/iu.test(path) &&
  !path.split("/").some((part) => part === ".." || part === "." || part === "");

/** The text of a file in UTF-8; undefined where it is none. */
function textIn(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Stores a skill with its files in place of the person's own one of that name. */
async function store(
  trx: Trx,
  userId: string,
  { skill, files, now }: { skill: ReadSkill; files: TextFile[]; now: number },
) {
  const own = trx.selectFrom("skills").where("userId", "=", userId);
  const before = await own.where("name", "=", skill.name).selectAll().executeTakeFirst();
  const { count } = await own.select(sql<number>`count(*)`.as("count")).executeTakeFirstOrThrow();
  if (!before && Number(count) >= limits.skills) throw tooMany();
  const made: SkillRow = {
    ...(before ?? { id: newId(), createdAt: now, userId, shared: 0 as const, groupIds: null }),
    ...skill,
    version: Number(before?.version ?? 0) + 1,
    updatedAt: Math.max(now, Number(before?.updatedAt ?? 0) + 1),
  };
  const { id: skillId, ...columns } = made;
  if (before) {
    // Two uploads at once make two versions.
    const counted = { ...columns, version: sql<number>`version + 1` };
    const row = await trx
      .updateTable("skills")
      .set(counted)
      .where("id", "=", skillId)
      .returning("version")
      .executeTakeFirst();
    made.version = Number(row?.version);
  } else await trx.insertInto("skills").values(made).execute();
  await trx.deleteFrom("skillFiles").where("skillId", "=", skillId).execute();
  for (const one of files) {
    const row = { ...newRow(now), userId, skillId, ...one };
    await trx.insertInto("skillFiles").values(row).execute();
  }
  return made;
}

/** Skills that come as files, and the text files of a skill. */
export const skillFiles = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(uploadRoute, uploadSkill)
  .openapi(listFilesRoute, listFiles)
  .openapi(readFileRoute, readOne);

const form = z.object({
  files: z.any().openapi({ type: "string", format: "binary", description: "Un ZIP con SKILL.md, o un SKILL.md." }),
});
skillFiles.openAPIRegistry.registerPath({
  ...upload,
  request: { body: { content: { "multipart/form-data": { schema: form } }, required: true } },
});
