import { z } from "@hono/zod-openapi";
import { sql } from "kysely";
import { FilterParser } from "ldapts";
import type { Db } from "../../db/engine.server.ts";
import type { AccessRow } from "../../db/tables.ts";
import { isSecureOrHere } from "../../process/config.server.ts";
import { encrypt } from "../../process/crypto.server.ts";
import { isForbiddenUrl } from "../../process/network/addresses.server.ts";
import { invalid } from "../http/problem.server.ts";
import type { Resource } from "../http/resource.server.ts";
import { flag, flagsOf, line, position, rowFields, text, timesOf } from "../http/schemas.server.ts";
import { droppedStart } from "./enter.server.ts";

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

/** Identity providers that people sign in with. No answer contains the secret. */
export const accesses: Resource<"accesses", typeof shown, typeof body> = {
  table: "accesses",
  name: "access",
  endsSessions: true,
  shown,
  body,
  show: ({ secret, ...row }) => ({
    ...row,
    ...timesOf(row),
    ...flagsOf(row, "makesAccounts", "trustsEmail", "enabled"),
    hasSecret: secret !== null,
  }),
  async columns({ dropsPeople, ...given }, { services, id, before }) {
    if (before?.secret && !given.secret && isMoved(before, given)) {
      throw invalid("secret", "Al cambiar la dirección hay que escribir el secreto otra vez.");
    }
    if (before && isOther(before, given) && !dropsPeople) await refuseToDrop(services.db, before);
    refuseUnfit(given);
    const secret = given.secret ? encrypt(given.secret, services.accessKey, id) : (before?.secret ?? null);
    return { ...given, secret };
  },
  // An identity at one provider means nothing at another.
  async inTransaction(trx, row, before) {
    if (!before || !isOther(before, row)) return;
    await trx
      .updateTable("identities")
      .set((e) => ({ subject: sql<string>`${droppedStart} || ${e.ref("id")}` }))
      .where("accessId", "=", row.id)
      .execute();
    await trx.deleteFrom("members").where("accessId", "=", row.id).execute();
    await trx.deleteFrom("sessions").where("accessId", "=", row.id).execute();
  },
  list: {
    searched: ["name", "address"],
    sortable: [
      { number: "position", direction: "asc" },
      { text: "name", direction: "asc" },
      { text: "kind", direction: "asc" },
      { text: "address", direction: "asc" },
      { text: "clientId", direction: "asc" },
      { number: "makesAccounts", direction: "desc" },
      { text: "adminGroup", direction: "asc", mayBeEmpty: true },
      { text: "domains", direction: "asc" },
      { number: "enabled", direction: "desc" },
    ],
    filters: { kind: "text", enabled: "flag" },
  },
};

type ProviderPlace = Pick<AccessRow, "address" | "kind">;
const isMoved = (before: ProviderPlace, row: ProviderPlace) =>
  before.address !== row.address || before.kind !== row.kind;

/** Whether people have other identities there: an issuer has its own, while a directory has the same on each of its servers. */
const isOther = (before: ProviderPlace, row: ProviderPlace) =>
  before.kind !== row.kind || (row.kind === "oidc" && before.address !== row.address);

/** Throws 422 if a field is missing or does not fit this kind of access. */
function refuseUnfit({
  kind,
  address,
  clientId,
  scopes,
  searchBase,
  userFilter,
}: Omit<z.output<typeof body>, "dropsPeople">): void {
  const fits = kind === "oidc" ? /^https?:/ : /^ldaps?:/;
  if (!fits.test(address)) throw invalid("address", wrongKind[kind]);
  if (kind === "oidc" && !clientId) throw invalid("clientId", "Falta el identificador de cliente.");
  if (kind === "oidc" && !scopes.split(" ").includes("openid")) {
    throw invalid("scopes", "Entre los alcances tiene que estar «openid».");
  }
  if (kind === "ldap" && !searchBase) throw invalid("searchBase", "Falta dónde están las personas.");
  if (userFilter && !userFilter.includes("{usuario}")) {
    throw invalid("userFilter", "En el filtro falta {usuario}, que es lo que escribe la persona.");
  }
  if (userFilter && !isFilter(userFilter)) {
    throw invalid("userFilter", "El filtro no se entiende: le sobran o le faltan paréntesis u otros signos.");
  }
}

function isFilter(filter: string): boolean {
  try {
    FilterParser.parseString(filter.replaceAll("{usuario}", "x"));
    return true;
  } catch {
    return false;
  }
}

/** Throws 422 if people are joined to this access, which is moving to another address or kind; the message gives their number. */
async function refuseToDrop(db: Db, { id }: Pick<AccessRow, "id">): Promise<void> {
  const { count } = await db
    .selectFrom("identities")
    .where("accessId", "=", id)
    .where("subject", "not like", `${droppedStart}%`)
    .select((e) => e.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  const people = Number(count);
  if (people === 0) return;
  const who = people === 1 ? "Una persona entra" : `${people.toLocaleString("es")} personas entran`;
  throw invalid(
    "dropsPeople",
    `${who} por este acceso, y en otra dirección no se sabe quién es cada cual. Marca «Soltar a quienes entran por él»: volverán a unirse por su correo y, quien tenga contraseña, con ella.`,
  );
}

const wrongKind: Record<AccessRow["kind"], string> = {
  oidc: "La dirección de OpenID Connect es la de su emisor, y empieza por https://.",
  ldap: "La dirección de un directorio empieza por ldaps://.",
};
