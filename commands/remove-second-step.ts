// `npm run cuenta:sin-codigo -- correo` removes the second factor of an account whose owner has lost the phone, or whose
// stored secret cannot be decrypted. It also ends the sessions of the account and revokes its API keys.

import { appendAudit } from "../app/db/audit/append.server.ts";
import { openDatabase } from "../app/db/connection.server.ts";
import { revokeAccess } from "../app/db/people/revoke-access.server.ts";
import { ConfigError, readInstalled } from "../app/process/config.server.ts";
import { createLog } from "../app/process/log.server.ts";
import { run } from "./run.ts";

await run(async () => {
  const email = process.argv[2];
  if (!email) throw new ConfigError("Falta el correo de la cuenta: npm run cuenta:sin-codigo -- ana@ejemplo.es");
  const { db, close } = await openDatabase(readInstalled(), createLog("warn"));
  try {
    const key = email.toLowerCase();
    const account = await db.selectFrom("users").where("emailKey", "=", key).select("id").executeTakeFirst();
    if (!account) throw new ConfigError(`Ninguna cuenta tiene el correo ${email}.`);
    const removed = await db.transaction().execute(async (trx) => {
      await revokeAccess(trx, account.id);
      await appendAudit(trx, { action: "delete", resource: "authenticator", ownerId: account.id });
      return trx.deleteFrom("authenticators").where("userId", "=", account.id).executeTakeFirst();
    });
    console.log(
      removed.numDeletedRows > 0n
        ? "Hecho: entra solo con la contraseña; sus sesiones se han cerrado y sus claves de programas ya no valen."
        : "Esta cuenta no tenía segundo paso. Sus sesiones se han cerrado y sus claves de programas ya no valen.",
    );
  } finally {
    await close();
  }
});
