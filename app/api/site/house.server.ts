import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { readHouse } from "../../db/house.server.ts";
import type { HouseRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { contrastOf, isReadable, readable } from "../../process/text/accent.server.ts";
import { domainsIn } from "../access/domains.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { checkGroupIds, groupIds, parseGroupIds, shownGroupIds } from "../groups/group-ids.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { admin, noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { answers, bearer, line, rowFields, takes, text, timesOf } from "../http/schemas.server.ts";
import { refuseStale, stale, storeRow } from "../http/stored-rows.server.ts";

const hex = /^#[0-9a-f]{6}$/;

const accent = text("El color", 7)
  .transform((value) => value.toLowerCase())
  .refine(
    (value) => value === "" || hex.test(value),
    "El color se escribe como #1a6fb5: # y seis cifras o letras de la a a la f.",
  )
  .refine((value) => !hex.test(value) || isReadable(value), {
    error: ({ input }) =>
      `Ese color casi no se lee sobre el fondo (${contrastOf(String(input)).toLocaleString("es", { maximumFractionDigits: 1 })} de contraste; hacen falta 4,5). El más parecido que se lee es ${readable(String(input))}.`,
  })
  .transform((value) => value || null)
  .nullable();

const isZone = (zone: string) => {
  try {
    new Intl.DateTimeFormat("es", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
};

const whole = (label: string, least: number, most: number) =>
  z
    .number(`${label} tienen que ser un número.`)
    .int(`${label} tienen que ser un número entero.`)
    .min(least, `${label}: ${least} como poco.`)
    .max(most, `${label}: ${most.toLocaleString("es")} como mucho.`)
    .nullable()
    .openapi({ example: least });

const body = z.strictObject({
  name: line("El nombre", limits.houseName, 1),
  accent: accent.openapi({ description: "Color del botón principal, #rrggbb; null: el de serie.", example: "#7fb4e6" }),
  foot: line("El pie", limits.houseFoot),
  mailName: line("Quién firma los correos", limits.houseName)
    .transform((name) => name || null)
    .nullable(),
  mailFoot: text("El pie de los correos", limits.mailFoot),
  timeZone: line("La zona horaria", 60)
    .refine((zone) => zone === "" || isZone(zone), "Esa zona horaria no existe. Se escribe como Europe/Madrid.")
    .transform((zone) => zone || null)
    .nullable()
    .openapi({ description: "De quien no se sabe la suya; null: UTC.", example: "Europe/Madrid" }),
  signupDomains: text("Los dominios", limits.signupDomains)
    .refine(
      (said) => domainsIn(said).every((domain) => /^([\p{L}\d-]+\.)+\p{L}[\p{L}\d-]+$/u.test(domain)),
      "Los dominios van separados con comas, como ayto.es, sede.ayto.es.",
    )
    .transform((said) => domainsIn(said).join(", "))
    .openapi({
      description: "De los correos que pueden crear una cuenta, con comas; vacío: todos.",
      example: "ayto.es",
    }),
  secondStep: z.enum(["optional", "admins", "all"], "La verificación en dos pasos: optional, admins o all.").openapi({
    description: "De quien entra con contraseña: nadie tiene que usarla, quien administra, o todas las personas.",
  }),
  sessionHours: whole("Las horas de una sesión", 1, 8_760),
  idleMinutes: whole("Los minutos sin usarla", 10, 43_200),
  groupIds: groupIds.openapi({ description: "Grupos en los que entra cada cuenta nueva." }),
  opensRooms: z
    .enum(["nobody", "admins", "all"], "Quién abre salas: nobody, admins o all.")
    .openapi({ description: "Quién puede abrir salas, en las que otras personas hablan con un asistente sin cuenta." }),
});

const pictures = {
  logo: z.string().nullable().openapi({ description: "Versión del logotipo; null: no hay." }),
  icon: z.string().nullable().openapi({ description: "Versión del icono; null: no hay." }),
};
const settings = z
  .object({ ...rowFields, ...body.shape, ...pictures, accent: z.string().nullable(), groupIds: shownGroupIds })
  .openapi("House");
const shown = z
  .object({
    name: z.string(),
    accent: z.string().nullable(),
    ...pictures,
    foot: z.string(),
    timeZone: z.string(),
    signupDomains: z.array(z.string()),
  })
  .openapi("PublicHouse");

const showSettings = ({ eventsTold: _, ...row }: HouseRow): z.output<typeof settings> => ({
  ...row,
  ...timesOf(row),
  groupIds: parseGroupIds(row),
  // PostgreSQL gives its large numbers as texts.
  sessionHours: row.sessionHours === null ? null : Number(row.sessionHours),
  idleMinutes: row.idleMinutes === null ? null : Number(row.idleMinutes),
});

const showPublicRoute = createRoute({
  method: "get",
  path: "/public",
  responses: { 200: answers(shown, "Cómo se presenta la casa, para cualquiera.") },
});
const showPublic: RouteHandler<typeof showPublicRoute, ApiEnv> = async (c) => {
  const { name, accent: color, logo, icon, foot, timeZone, signupDomains } = await readHouse(c.var.services.db);
  const rest = { foot, timeZone: timeZone ?? "UTC", signupDomains: domainsIn(signupDomains) };
  return c.json({ name, accent: color, logo, icon, ...rest }, 200);
};

const admins = { security: bearer, middleware: [signedIn, noProgram, admin, publishes("house")] };

const showRoute = createRoute({
  method: "get",
  path: "/",
  ...admins,
  responses: { 200: answers(settings, "Todo lo que la casa tiene suyo.") },
});
const show: RouteHandler<typeof showRoute, ApiEnv> = async (c) =>
  c.json(showSettings(await readHouse(c.var.services.db)), 200);

const changeRoute = createRoute({
  method: "patch",
  path: "/",
  ...admins,
  request: { body: takes(body.partial()) },
  responses: { 200: answers(settings, "La casa, cambiada.") },
});
const change: RouteHandler<typeof changeRoute, ApiEnv> = async (c) => {
  const { db, clock } = c.var.services;
  // A field that was left out stays, in spite of its default.
  const sent = Object.keys(await c.req.json<object>());
  const given = Object.fromEntries(Object.entries(c.req.valid("json")).filter(([name]) => sent.includes(name)));
  const before = await readHouse(db);
  refuseStale(c, before, showSettings(before));
  await checkGroupIds(db, (given.groupIds ?? null) as string[] | null, parseGroupIds(before));
  const columns = { ...given, updatedAt: clock.now() };
  const after = await db.transaction().execute(async (trx) => {
    const row = await storeRow(trx, "house", before, columns, true);
    if (!row) throw stale(showSettings(await readHouse(trx)));
    const changes = { before: showSettings(before), after: showSettings(row) };
    await recordAudit(trx, c, "update", "house", row.id, { changes });
    return row;
  });
  return c.json(showSettings(after), 200);
};

/** The installation as it presents itself. */
export const house = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(showPublicRoute, showPublic)
  .openapi(showRoute, show)
  .openapi(changeRoute, change);
