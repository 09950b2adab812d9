import { z } from "@hono/zod-openapi";
import type { Db } from "../../db/connection.server.ts";
import type { AccessRow } from "../../db/tables.ts";
import { isForbiddenUrl } from "../../process/addresses.server.ts";
import { isSecureOrHere } from "../../process/config.server.ts";
import { encrypt } from "../../process/crypto.server.ts";
import type { Resource } from "../http/crud.server.ts";
import { invalid } from "../http/problem.server.ts";
import { flag, line, position, rowFields, text, timesOf } from "../http/schemas.server.ts";

/** How people are found in most directories: by their user name or their address. */
export const usualFilter = "(&(objectClass=person)(|(uid={usuario})(mail={usuario})(sAMAccountName={usuario})))";

const optional = (label: string, max: number) =>
  line(label, max)
    .transform((value) => value || null)
    .nullable()
    .default(null);

const fields = {
  name: line("El nombre", 60, 1),
  kind: z.enum(["oidc", "ldap"], "Ese tipo de acceso no existe."),
  address: z
    .url({ protocol: /^(https?|ldaps?)$/, error: "La dirección tiene que empezar por https:// o ldaps://." })
    .max(1_000, "La dirección es demasiado larga.")
    .refine(isSecureOrHere, "La dirección tiene que ser cifrada (https:// o ldaps://), salvo en esta misma máquina.")
    .refine(
      (url) => !isForbiddenUrl(url),
      "En esa dirección no puede haber un proveedor: es de la propia red de la máquina.",
    ),
  clientId: line("El identificador", 500).default(""),
  scopes: line("Los alcances", 500).default("openid email profile"),
  groupsClaim: line("La reclamación de los grupos", 200).default("groups"),
  adminGroup: optional("El grupo que administra", 255),
  makesAccounts: flag.default(true).openapi({ description: "Si quien no tiene cuenta recibe una." }),
  domains: text("Los dominios", 2_000)
    .default("")
    .openapi({ description: "Los únicos que entran, con comas; vacío: todos." }),
  trustsEmail: flag
    .default(false)
    .openapi({ description: "Si sus correos valen cuando no dice que estén comprobados." }),
  sessionHours: z
    .number("Las horas tienen que ser un número.")
    .int("Las horas tienen que ser un número entero.")
    .min(1, "Las horas: 1 como poco.")
    .max(720, "Las horas: 720 como mucho.")
    .nullable()
    .default(null)
    .openapi({ description: "Cuánto duran sus sesiones; null: lo que todas." }),
  searchBase: optional("Dónde están las personas", 500),
  userFilter: optional("Cómo se busca a una persona", 500),
  groupBase: optional("Dónde están los grupos", 500),
  enabled: flag.default(true),
  position,
};
const body = z.strictObject({
  ...fields,
  dropsPeople: flag.default(false).openapi({
    description: "Si, al cambiar la dirección o el tipo, quienes entraban por él dejan de estar unidos a él.",
  }),
  secret: text("El secreto", 4_000).nullable().default(null).openapi({ description: "Sin él se queda el que había." }),
});
const shown = z
  .object({
    ...rowFields,
    ...fields,
    address: z.string(),
    adminGroup: z.string().nullable(),
    searchBase: z.string().nullable(),
    userFilter: z.string().nullable(),
    groupBase: z.string().nullable(),
    hasSecret: z.boolean(),
  })
  .openapi("Access");

const asFlag = (value: boolean) => (value ? (1 as const) : (0 as const));

/** Providers of identities that people come in by. The secret is never answered. */
export const accesses: Resource<"accesses", typeof shown, typeof body> = {
  table: "accesses",
  name: "access",
  endsSessions: true,
  shown,
  body,
  method: "put",
  show: ({ secret, makesAccounts, trustsEmail, enabled, ...row }) => ({
    ...row,
    ...timesOf(row),
    makesAccounts: makesAccounts === 1,
    trustsEmail: trustsEmail === 1,
    enabled: enabled === 1,
    hasSecret: secret !== null,
  }),
  columns: ({ makesAccounts = true, trustsEmail = false, enabled = true, dropsPeople: _asked, ...given }) => ({
    ...given,
    makesAccounts: asFlag(makesAccounts),
    trustsEmail: asFlag(trustsEmail),
    enabled: asFlag(enabled),
  }),
  // What comes is the new secret as it was written, or null.
  complete({ accessKey }, row, before) {
    if (before?.secret && !row.secret && isMoved(before, row)) {
      throw invalid("secret", "Al cambiar la dirección hay que escribir el secreto otra vez.");
    }
    return { ...row, secret: row.secret ? encrypt(row.secret, accessKey, row.id) : (before?.secret ?? null) };
  },
  async check({ db }, row, _person, { dropsPeople }) {
    if (!dropsPeople) await refuseToDrop(db, row);
    const fits = row.kind === "oidc" ? /^https?:/ : /^ldaps?:/;
    if (!fits.test(row.address)) throw invalid("address", wrongKind[row.kind]);
    if (row.kind === "oidc" && !row.clientId) throw invalid("clientId", "Falta el identificador de cliente.");
    if (row.kind === "oidc" && !row.scopes.split(" ").includes("openid")) {
      throw invalid("scopes", "Entre los alcances tiene que estar «openid».");
    }
    if (row.kind === "ldap" && !row.searchBase) throw invalid("searchBase", "Falta dónde están las personas.");
    if (row.userFilter && !row.userFilter.includes("{usuario}")) {
      throw invalid("userFilter", "En el filtro falta {usuario}, que es lo que escribe la persona.");
    }
  },
  // An identity at one provider means nothing at another.
  async stored(db, row, before) {
    if (!before || !isMoved(before, row)) return;
    await db.deleteFrom("identities").where("accessId", "=", row.id).execute();
    await db.deleteFrom("members").where("accessId", "=", row.id).execute();
    await db.deleteFrom("sessions").where("accessId", "=", row.id).execute();
  },
  list: {
    table: "accesses",
    searched: ["name", "address"],
    sortable: [
      { column: "position", direction: "asc" },
      { column: "name", direction: "asc" },
    ],
    filters: { kind: "text", enabled: "flag" },
  },
};

type ProviderPlace = Pick<AccessRow, "address" | "kind">;
const isMoved = (before: ProviderPlace, row: ProviderPlace) =>
  before.address !== row.address || before.kind !== row.kind;

/** Throws 422 where people are joined to an access that moves, with how many they are. */
async function refuseToDrop(db: Db, row: AccessRow): Promise<void> {
  const before = await db
    .selectFrom("accesses")
    .where("id", "=", row.id)
    .select(["address", "kind"])
    .executeTakeFirst();
  if (!before || !isMoved(before, row)) return;
  const { count } = await db
    .selectFrom("identities")
    .where("accessId", "=", row.id)
    .select((e) => e.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  const people = Number(count);
  if (people === 0) return;
  const who = people === 1 ? "Una persona entra" : `${people.toLocaleString("es")} personas entran`;
  throw invalid(
    "dropsPeople",
    `${who} por este acceso, y en otra dirección no se sabe quién es cada cual. Marca «Soltar a quienes entran por él»: volverán a unirse con su contraseña.`,
  );
}

const wrongKind: Record<AccessRow["kind"], string> = {
  oidc: "La dirección de OpenID Connect es la de su emisor, y empieza por https://.",
  ldap: "La dirección de un directorio empieza por ldaps://.",
};
