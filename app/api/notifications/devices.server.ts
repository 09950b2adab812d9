import { ECDH } from "node:crypto";
import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { Db } from "../../db/engine.server.ts";
import { isOrphan, isTaken } from "../../db/errors.server.ts";
import { newRow } from "../../db/rows.server.ts";
import type { DeviceRow } from "../../db/tables.ts";
import { isPublicHost } from "../../process/network/public-addresses.server.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { active, noProgram, notSignedIn, signedIn } from "../http/authentication.server.ts";
import { answerInvalid } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, takes } from "../http/schemas.server.ts";
import { canMail } from "./reply-notices.server.ts";

const devicesShown = z
  .object({
    key: z.string().openapi({ description: "Con ella el navegador pide su suscripción: `applicationServerKey`." }),
    count: z.number().openapi({ description: "En cuántos dispositivos se avisa." }),
    here: z.boolean().openapi({ description: "Si el de esta sesión es uno de ellos." }),
    mails: z.boolean().openapi({ description: "Si se avisa también por correo." }),
  })
  .openapi("Devices");

const unknownService = "El navegador ha dado una dirección de avisos que no sirve.";
// In characters; browsers' are about 200 long.
const longest = 1_000;
const unknownKey = "El navegador ha dado una clave de avisos que no sirve.";

/** The address of a push service, as requests spell it; empty if the text is no such address. */
function serviceAddress(given: string): string {
  const url = URL.parse(given);
  const isWhole = url?.protocol === "https:" && !url.username && !url.password;
  // The signing library parses the address in its own way: a host name of this form has only one reading.
  const isPlain = /^([a-z\d.-]+|\[[\da-f:]+\])$/.test(url?.hostname ?? "");
  return url && isWhole && isPlain && isPublicHost(url) && url.href.length <= longest ? url.href : "";
}

/** Whether a key is a point of P-256, with which a notice can be encrypted. */
function isPoint(key: string): boolean {
  try {
    ECDH.convertKey(key, "prime256v1", "base64url");
    return true;
  } catch {
    return false;
  }
}

// A point of 65 bytes and a secret of 16, as browsers give them (RFC 8291): in Base64url.
const newDevice = z.strictObject({
  endpoint: z
    .string(unknownService)
    .max(longest, unknownService)
    .transform(serviceAddress)
    .refine((address) => address !== "", unknownService)
    .openapi({ example: "https://avisos.example/v2/de-este-navegador" }),
  keys: z.strictObject({
    p256dh: z
      .string()
      .regex(/^B[\w-]{86}=?$/, unknownKey)
      .refine(isPoint, unknownKey)
      .openapi({ example: "BB4YUy_UdUwC8wQdnHXOszuD_9gax85P6ILMscmLxYlupGwxHE4v9A3ZajZT5uRURdMt_khuztdcepDGoYiBwKM" }),
    auth: z
      .string()
      .regex(/^[\w-]{22}(==)?$/, unknownKey)
      .openapi({ example: "A".repeat(22) }),
  }),
});

// Devices per person; the newest are kept.
const devicesAtMost = 10;

const own = { security: bearer, middleware: [signedIn, noProgram, active, publishes("user")] };

const showDevicesRoute = createRoute({
  method: "get",
  path: "/",
  ...own,
  responses: { 200: answers(devicesShown, "Cómo se avisa de las respuestas.") },
});
const showDevices: RouteHandler<typeof showDevicesRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const rows = await devicesOf(services.db, person.id);
  const here = rows.some(({ sessionId }) => sessionId === person.sessionId);
  return c.json({ key: services.pushKeys.publicKey, count: rows.length, here, mails: canMail(services) }, 200);
};

const addDeviceRoute = createRoute({
  method: "post",
  path: "/",
  ...own,
  request: { body: takes(newDevice) },
  responses: { 204: { description: "El navegador de esta sesión recibirá los avisos, hasta que se cierre." } },
});
const addDevice: RouteHandler<typeof addDeviceRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { endpoint, keys } = c.req.valid("json");
  await countAttempt(c, "notice", person.id);
  const now = Date.now();
  const { id: userId, sessionId } = person;
  const row = { ...newRow(now), userId, sessionId, endpoint, ...keys };
  try {
    await replaceDevice(services, row);
  } catch (error) {
    // Either another person registered this browser at the same time, or the session has ended.
    if (isTaken(error)) await replaceDevice(services, row);
    else if (isOrphan(error)) throw notSignedIn();
    else throw error;
  }
  return c.body(null, 204);
};

const endDevicesRoute = createRoute({
  method: "delete",
  path: "/",
  ...own,
  responses: { 204: { description: "No se avisa en ningún dispositivo." } },
});
const endDevices: RouteHandler<typeof endDevicesRoute, ApiEnv> = async (c) => {
  await c.var.services.db.deleteFrom("devices").where("userId", "=", c.var.person.id).execute();
  return c.body(null, 204);
};

const endHereRoute = createRoute({
  method: "delete",
  path: "/here",
  ...own,
  responses: { 204: { description: "No se avisa en el navegador de esta sesión." } },
});
const endHere: RouteHandler<typeof endHereRoute, ApiEnv> = async (c) => {
  await c.var.services.db.deleteFrom("devices").where("sessionId", "=", c.var.person.sessionId).execute();
  return c.body(null, 204);
};

/** The devices on which a person is told that a reply is there. */
export const devices = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(showDevicesRoute, showDevices)
  .openapi(addDeviceRoute, addDevice)
  .openapi(endDevicesRoute, endDevices)
  .openapi(endHereRoute, endHere);

/** A browser has one address, whoever is signed in, and a session one browser. */
const replaceDevice = ({ db, engine }: Pick<Services, "db" | "engine">, row: DeviceRow) =>
  db.transaction().execute(async (trx) => {
    // Writes that come in at the same time wait here: SQLite has one connection anyway.
    const owner = trx.selectFrom("users").where("id", "=", row.userId).select("id");
    await owner.$if(engine === "postgres", (query) => query.forUpdate()).execute();
    await trx
      .deleteFrom("devices")
      .where((e) => e.or([e("endpoint", "=", row.endpoint), e("sessionId", "=", row.sessionId)]))
      .execute();
    const kept = trx
      .selectFrom("devices")
      .where("userId", "=", row.userId)
      .orderBy("createdAt", "desc")
      .orderBy("id", "desc")
      .limit(devicesAtMost - 1)
      .select("id");
    await trx.deleteFrom("devices").where("userId", "=", row.userId).where("id", "not in", kept).execute();
    await trx.insertInto("devices").values(row).execute();
  });

const devicesOf = (db: Db, userId: string) =>
  db.selectFrom("devices").where("userId", "=", userId).select(["id", "sessionId"]).execute();
