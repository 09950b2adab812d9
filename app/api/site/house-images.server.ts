import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { readHouse } from "../../db/house.server.ts";
import { newRow } from "../../db/rows.server.ts";
import type { HouseImageRow } from "../../db/tables.ts";
import { type BrandImage, makeIcons, makeLogo } from "../../files/pictures/brand.server.ts";
import { FileRefused } from "../../files/refused.server.ts";
import { limits } from "../../process/limits.ts";
import type { ApiEnv } from "../env.server.ts";
import { multipartBody } from "../files/multipart-body.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { admin, noProgram, signedIn } from "../http/authentication.server.ts";
import { takesBodyOf } from "../http/bodies.server.ts";
import { answerInvalid, invalid, notFound } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { bearer, bytes } from "../http/schemas.server.ts";
import { storeRow } from "../http/stored-rows.server.ts";

type Kind = "logo" | "icon";
const kind = z.enum(["logo", "icon"]).openapi({ param: { name: "kind", in: "path" } });
const form = z.object({ image: z.any().openapi({ type: "string", format: "binary" }) });
const admins = { security: bearer, middleware: [signedIn, noProgram, admin, publishes("house")] };

const showRoute = createRoute({
  method: "get",
  path: "/{kind}",
  request: {
    params: z.object({ kind: z.enum(["logo", "icon", "largeIcon"]).openapi({ param: { name: "kind", in: "path" } }) }),
  },
  responses: {
    200: { content: { "image/*": { schema: bytes } }, description: "La imagen, SVG o PNG." },
  },
});

const put = {
  method: "put" as const,
  path: "/{kind}" as const,
  ...admins,
  request: { params: z.object({ kind }) },
  responses: { 204: { description: "Puesta." } },
};

const deleteRoute = createRoute({
  method: "delete",
  path: "/{kind}",
  ...admins,
  request: { params: z.object({ kind }) },
  responses: { 204: { description: "Quitada." } },
});

/** The logo and the icon of the house. */
export const houseImages = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(showRoute, async (c) => {
    const image = await c.var.services.db
      .selectFrom("houseImages")
      .where("kind", "=", c.req.valid("param").kind)
      .selectAll()
      .executeTakeFirstOrThrow(notFound);
    const headers = {
      "Content-Type": image.mediaType,
      // An SVG that is opened as a page runs no script and fetches nothing.
      "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      "Cache-Control": "public, max-age=3600",
    };
    return c.body(Buffer.from(image.content, "base64"), 200, headers);
  })
  .openapi(
    // The body is parsed as a stream; the schema is only for the API document.
    createRoute({ ...put, middleware: [...put.middleware, takesBodyOf(limits.brandImage * 2)], hide: true }),
    async (c) => {
      const body = await multipartBody(c, limits.brandImage + 1);
      try {
        const sent = body.files.find(({ field }) => field === "image");
        if (!sent || sent.size === 0) throw invalid("image", "Elige una imagen.");
        if (sent.size > limits.brandImage) throw invalid("image", "La imagen pesa más de 2 MB. Redúcela.");
        const of = c.req.valid("param").kind;
        await store(c, of, await made(of, await readFile(sent.path)).catch(refused));
        return c.body(null, 204);
      } finally {
        await body.discard();
      }
    },
  )
  .openapi(deleteRoute, async (c) => {
    await store(c, c.req.valid("param").kind, {});
    return c.body(null, 204);
  });

houseImages.openAPIRegistry.registerPath({
  ...put,
  request: { ...put.request, body: { content: { "multipart/form-data": { schema: form } }, required: true } },
});

type Made = Partial<Record<HouseImageRow["kind"], BrandImage>>;

const made = async (of: Kind, source: Buffer): Promise<Made> =>
  of === "logo" ? { logo: await makeLogo(source) } : makeIcons(source);

function refused(error: unknown): never {
  throw error instanceof FileRefused ? invalid("image", `La imagen ${error.message}`) : error;
}

/** Replaces the pictures of this kind, and stores their version in the row of the house. Without new pictures, the kind has none. */
async function store(c: Context<ApiEnv>, of: Kind, images: Made): Promise<void> {
  const { db, clock } = c.var.services;
  const kinds: HouseImageRow["kind"][] = of === "logo" ? ["logo"] : ["icon", "largeIcon"];
  const now = clock.now();
  const rows = Object.entries(images).map(([name, { mediaType, bytes: content }]) => ({
    ...{ ...newRow(now), kind: name as HouseImageRow["kind"], mediaType },
    content: content.toString("base64"),
  }));
  const [first] = rows;
  const version = first ? createHash("sha256").update(first.content).digest("hex").slice(0, 12) : null;
  await db.transaction().execute(async (trx) => {
    const before = await readHouse(trx);
    const row = await storeRow(trx, "house", before, { [of]: version, updatedAt: now }, false);
    await trx.deleteFrom("houseImages").where("kind", "in", kinds).execute();
    if (rows.length > 0) await trx.insertInto("houseImages").values(rows).execute();
    const changes = { before: { [of]: before[of] }, after: { [of]: row?.[of] ?? null } };
    await recordAudit(trx, c, "update", "house", before.id, { changes });
  });
}
