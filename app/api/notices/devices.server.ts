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

const devicesShown = z
  .object({
    key: z.string().openapi({ description: "Con ella el navegador pide su suscripción: `applicationServerKey`." }),
    count: z.number().openapi({ description: "En cuántos dispositivos se avisa." }),
    here: z.boolean().openapi({ description: "Si esta sesión es una de ellas." }),
  })
  .openapi("Devices");

const unknownService = "El navegador ha dado una dirección de avisos que no sirve.";
// A point of P-256 and 16 bytes, as browsers give them (RFC 8291): in Base64url.
const newDevice = z.strictObject({
  endpoint: z
    .url({ protocol: /^https$/, error: unknownService })
    .max(1_000, unknownService)
    .refine((address) => isPublicHost(new URL(address)), unknownService),
  keys: z.strictObject({
    p256dh: z.string().regex(/^B[\w-]{86}=?$/, "El navegador ha dado una clave de avisos que no sirve."),
    auth: z.string().regex(/^[\w-]{22}(==)?$/, "El navegador ha dado una clave de avisos que no sirve."),
  }),
});

const own = { security: bearer, middleware: [signedIn, noProgram, active, publishes("user")] };

const showDevicesRoute = createRoute({
  method: "get",
  path: "/",
  ...own,
  responses: { 200: answers(devicesShown, "En cuántos dispositivos se avisa de las respuestas.") },
});
const showDevices: RouteHandler<typeof showDevicesRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const rows = await devicesOf(services.db, person.id);
  const here = rows.some(({ sessionId }) => sessionId === person.sessionId);
  return c.json({ key: vapidKeys(services.pushKey).publicKey, count: rows.length, here }, 200);
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
