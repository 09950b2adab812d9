// `npm run cuenta:sin-codigo -- correo`: lets a person in by password alone who has lost the phone, or whose second step can't be read.

import { v7 as newId } from "uuid";
import { ConfigError, readConfig } from "../app/config.server.ts";
import { openDatabase } from "../app/db/connection.server.ts";
import { createLog } from "../app/log.server.ts";
import { run } from "./run.ts";

await run(async () => {
  const email = process.argv[2];
  if (!email) throw new ConfigError("Falta el correo de la cuenta: npm run cuenta:sin-codigo -- ana@ejemplo.es");
  const { db, close } = await openDatabase(readConfig(), createLog("warn"));
  try {
    const key = email.toLowerCase();
    const account = await db.selectFrom("users").where("emailKey", "=", key).select("id").executeTakeFirst();
    if (!account) throw new ConfigError(`Ninguna cuenta tiene el correo ${email}.`);
    const removed = await db.transaction().execute(async (trx) => {
      await trx.deleteFrom("sessions").where("userId", "=", account.id).execute();
      const now = Date.now();
      const row = { id: newId(), createdAt: now, updatedAt: now, actorId: null, ip: "", changes: "{}" };
      await trx
        .insertInto("audit")
        .values({ ...row, action: "delete", resource: "authenticator", resourceId: null, ownerId: account.id })
        .execute();
      return trx.deleteFrom("authenticators").where("userId", "=", account.id).executeTakeFirst();
    });
    console.log(
      removed.numDeletedRows > 0n
        ? "Hecho: entra solo con la contraseña, y sus sesiones se han cerrado."
        : "Esta cuenta no tenía segundo paso. Sus sesiones se han cerrado.",
    );
  } finally {
    await close();
  }
});
