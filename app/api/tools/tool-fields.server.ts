import { z } from "@hono/zod-openapi";
import type { ToolRow } from "../../db/tables.ts";
import { encrypt, tryDecrypt } from "../../process/crypto.server.ts";
import { settingsOf } from "../../tools/accounts.server.ts";
import type { ToolAccess } from "../../tools/mcp/server.ts";
import type { ToolSettings } from "../../tools/settings.ts";
import { listedIn, openAccess } from "../../tools/toolbox.server.ts";
import type { Person, Services } from "../env.server.ts";
import { groupIds, parseGroupIds, shownGroupIds } from "../groups/group-ids.server.ts";
import { flag, isoOrNull, line, position, rowFields, serverUrl, text, timesOf } from "../http/schemas.server.ts";

const kind = z.enum(
  [
    "mcp",
    "searxng",
    "brave",
    "tavily",
    "image",
    "page",
    "documents",
    "sums",
    "time",
    "artifacts",
    "memory",
    "program",
    "skills",
  ],
  "Ese tipo de herramienta no existe.",
);
const allowed = z.enum(["everyone", "admins"], "La usan todos o solo quien administra.");

const listed = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  readOnly: z.boolean().openapi({ description: "Si dice que no cambia nada." }),
  on: z.boolean().openapi({ description: "Si se ofrece a los modelos." }),
  ask: z.boolean().openapi({ description: "Si se pregunta a la persona antes de cada llamada." }),
});

/** `address`, `hasSecret`, `problem` and the like are for admins; others get null or false. The secret is never answered. */
export const tool = z
  .object({
    ...rowFields,
    name: z.string(),
    kind,
    address: z.string().nullable(),
    program: z
      .string()
      .nullable()
      .openapi({ description: "Su nombre en MCP_SERVERS, si es un programa de la máquina." }),
    hasSecret: z.boolean(),
    secretLost: z
      .boolean()
      .openapi({ description: "Si la clave se guardó con otro secreto y hay que escribirla otra vez." }),
    clientId: z.string().nullable().openapi({ description: "El cliente OAuth dado de alta a mano en su servidor." }),
    personal: z.boolean().openapi({ description: "Si cada persona la usa con su propia cuenta en ese servidor." }),
    signedIn: z.boolean().openapi({ description: "Si se ha iniciado sesión en su servidor (OAuth)." }),
    model: z.string().nullable().openapi({ description: "El modelo que hace las imágenes." }),
    allowed,
    enabled: z.boolean(),
    seconds: z.number(),
    kilobytes: z.number(),
    tools: z.array(listed).openapi({ description: "Lo que ofrece un servidor MCP." }),
    listedAt: z.string().nullable(),
    problem: z.string().nullable(),
    position: z.number(),
    groupIds: shownGroupIds,
  })
  .openapi("Tool");

const within = (label: string, min: number, max: number) =>
  z
    .number(`${label} tiene que ser un número.`)
    .int(`${label} tiene que ser un número entero.`)
    .min(min, `${label}: ${min} como poco.`)
    .max(max, `${label}: ${max} como mucho.`);

export const newTool = z.strictObject({
  name: line("El nombre", 60, 1),
  kind,
  address: serverUrl("una herramienta", 2_000).nullable().default(null),
  secret: text("La clave", 4_000).nullable().default(null).openapi({
    description: "Un token, o cabeceras, una por línea: «X-Api-Key: …». Sin ella se queda la que había.",
  }),
  model: line("El modelo", 200).nullable().default(null),
  clientId: line("El identificador de cliente", 500).nullable().default(null).openapi({
    description: "De un cliente OAuth dado de alta a mano, si su servidor no deja que se haga solo.",
  }),
  clientSecret: line("El secreto de cliente", 1_000)
    .nullable()
    .default(null)
    .openapi({ description: "Sin él se queda el que había." }),
  personal: flag
    .default(false)
    .openapi({ description: "Cada persona la usa con su propia cuenta en su servidor, al que da permiso en /user." }),
  allowed: allowed.default("everyone"),
  enabled: flag.default(true),
  seconds: within("Los segundos", 1, 600).default(30),
  kilobytes: within("Los kB", 1, 256).default(32),
  position,
  groupIds,
  choices: z
    .record(z.string().max(200), z.strictObject({ on: flag.optional(), ask: flag.optional() }))
    .optional()
    .openapi({
      description: "Por herramienta del servidor: si se ofrece, y si se pregunta antes. Sin ello se queda como estaba.",
    }),
});
export type NewTool = z.output<typeof newTool>;

/** A tool as the API shows it to this person. */
export function showTool(
  { toolKey }: Pick<Services, "toolKey">,
  row: ToolRow,
  person: Pick<Person, "role">,
): z.output<typeof tool> {
  const forAdmin = person.role === "admin";
  const { id, name, kind: what, address, secret, access, seconds, kilobytes, problem, listedAt, position: at } = row;
  const { program, model, clientId, personal = false, tools: choices = {} } = settingsOf(row);
  return {
    id,
    ...timesOf(row),
    name,
    kind: what,
    address: forAdmin ? address : null,
    program: forAdmin ? (program ?? null) : null,
    hasSecret: forAdmin && secret !== null,
    secretLost: forAdmin && secret !== null && tryDecrypt(secret, toolKey, id) === undefined,
    clientId: forAdmin ? (clientId ?? null) : null,
    personal,
    signedIn: forAdmin && hasTokens(access, toolKey, id),
    model: forAdmin ? (model ?? null) : null,
    allowed: row.allowed,
    enabled: row.enabled === 1,
    seconds,
    kilobytes,
    tools: listedIn(row)
      .map(({ name: own, title, description, readOnly }) => {
        const { on = true, ask = !readOnly } = choices[own] ?? {};
        return { name: own, title, description, readOnly, on, ask };
      })
      // With accounts of each person the list depends on the account, so only administrators see the stored list.
      .filter(({ on }) => forAdmin || (on && !personal)),
    listedAt: forAdmin ? isoOrNull(listedAt) : null,
    problem: forAdmin ? problem : null,
    position: at,
    groupIds: forAdmin ? parseGroupIds(row) : null,
  };
}

const hasTokens = (access: string | null, key: Buffer, id: string) => "tokens" in openAccess(access, key, id);

type Client = Pick<NewTool, "clientId" | "clientSecret">;

/** Access after its client was changed by hand: the old tokens and the old client are of no use to a new client. */
function accessWith(before: ToolAccess, { clientId, clientSecret }: Client): ToolAccess {
  if (!clientId) return {};
  const isSame = before.own?.client_id === clientId;
  const secret = clientSecret ?? (isSame ? before.own?.client_secret : undefined);
  const own = { client_id: clientId, ...(secret && { client_secret: secret }) };
  return isSame ? { ...before, own } : { own };
}

/** Columns that a body makes; without a new secret the old, encrypted one stays. */
export function toColumns({ toolKey }: Pick<Services, "toolKey">, id: string, given: NewTool, before?: ToolRow) {
  const { secret, model, clientId, clientSecret, personal, choices, ...columns } = given;
  const old: ToolSettings = before ? settingsOf(before) : {};
  const kept = before?.access ?? null;
  // An unchanged access is not written: its tokens may be refreshed at the same moment.
  const isKept =
    kept !== null && (old.clientId ?? null) === clientId && !clientSecret && (old.personal ?? false) === personal;
  const opened = openAccess(kept, toolKey, id);
  // The house's own tokens are of no use where each person brings theirs.
  const usable = personal ? { ...(opened.own && { own: opened.own }) } : opened;
  const access = isKept ? undefined : accessWith(usable, { clientId, clientSecret });
  const settings: ToolSettings = {
    ...(old.program !== undefined && { program: old.program }),
    ...(model && { model }),
    ...(clientId && { clientId }),
    ...(personal && { personal: true as const }),
    ...(choices ? { tools: choices } : old.tools && { tools: old.tools }),
  };
  return {
    ...columns,
    secret: secret ? encrypt(secret, toolKey, id) : personal ? null : (before?.secret ?? null),
    settings: JSON.stringify(settings),
    access: access?.own ? encrypt(JSON.stringify(access), toolKey, id) : isKept ? kept : null,
  };
}
