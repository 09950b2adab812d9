import { v7 as newId } from "uuid";
import type { Db } from "../../db/engine.server.ts";
import { type Config, ConfigError, type OidcSettings } from "../../process/config.server.ts";
import { encrypt } from "../../process/crypto.server.ts";

/**
 * Adds the provider that the environment names, if no access has its issuer yet. If an access has this issuer, it takes the client id
 * and secret of the environment, and its other fields stay as the admin left them.
 */
export async function addAccess(
  { db, accessKey }: { db: Db; accessKey: Buffer },
  given: OidcSettings | undefined,
): Promise<void> {
  if (!given) return;
  const { issuer: address, clientId, clientSecret, makesAccounts, adminGroup, ...named } = given;
  const now = Date.now();
  const before = await db.selectFrom("accesses").where("address", "=", address).select("id").executeTakeFirst();
  const id = before?.id ?? newId();
  const own = { clientId, secret: clientSecret ? encrypt(clientSecret, accessKey, id) : null };
  if (before) {
    await db.updateTable("accesses").set(own).where("id", "=", id).execute();
    return;
  }
  const row = { id, createdAt: now, updatedAt: now, kind: "oidc" as const, address, ...own, ...named };
  await db
    .insertInto("accesses")
    .values({
      ...row,
      adminGroup: adminGroup ?? null,
      makesAccounts: makesAccounts ? 1 : 0,
      domains: "",
      trustsEmail: 0,
      sessionHours: null,
      searchBase: null,
      userFilter: null,
      groupBase: null,
      enabled: 1,
      position: 0,
    })
    .execute();
}

/** Throws ConfigError where nobody could come in: no passwords, no proxy that names people, and no access that is enabled. */
export async function refuseWithoutEntry(
  db: Db,
  { passwordSignin, authProxy }: Pick<Config, "passwordSignin" | "authProxy">,
): Promise<void> {
  if (passwordSignin || authProxy) return;
  const access = await db.selectFrom("accesses").where("enabled", "=", 1).select("id").executeTakeFirst();
  if (access) return;
  throw new ConfigError(
    "PASSWORD_SIGNIN=off deja sin manera de entrar: no hay ningún acceso activo. Pon OIDC_ISSUER, o quita PASSWORD_SIGNIN.",
  );
}
