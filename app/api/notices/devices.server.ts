import { ECDH } from "node:crypto";
import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { v7 as newId } from "uuid";
import type { Db } from "../../db/connection.server.ts";
import { isPublicHost } from "../../process/public-addresses.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { active, noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, takes } from "../http/schemas.server.ts";
import { vapidKeys } from "./push.server.ts";
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
const unknownKey = "El navegador ha dado una clave de avisos que no sirve.";

/** Whether a push service may be there. What is no address at all is said to be none before. */
function isOutside(address: string): boolean {
  const url = URL.parse(address);
  return url === null || isPublicHost(url);
}

/** Whether it is a point of P-256, with which a notice can be encrypted. */
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
    .url({ protocol: /^https$/, error: unknownService })
    .max(1_000, unknownService)
    .refine(isOutside, unknownService)
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
  const { publicKey: key } = vapidKeys(services.pushKey);
  return c.json({ key, count: rows.length, here, mails: canMail(services) }, 200);
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
  const row = { createdAt: now, updatedAt: now, userId: person.id, sessionId: person.sessionId, endpoint, ...keys };
  await services.db.transaction().execute(async (trx) => {
    // A browser has one address, whoever is signed in, and a session one browser.
    await trx
      .deleteFrom("devices")
      .where((e) => e.or([e("endpoint", "=", endpoint), e("sessionId", "=", person.sessionId)]))
      .execute();
    await trx
      .insertInto("devices")
      .values({ id: newId(), ...row })
      .execute();
  });
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

const devicesOf = (db: Db, userId: string) =>
  db.selectFrom("devices").where("userId", "=", userId).select(["id", "sessionId"]).execute();
