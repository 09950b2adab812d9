// `npm run cuenta:entrar -- correo` prints a link that opens a session of that account, once, for fifteen minutes. It is the way in
// for whoever hosts the installation when people come in by a provider alone and that one is gone.

import { randomBytes } from "node:crypto";
import { v7 as newId } from "uuid";
import { appendAudit } from "../app/db/audit/append.server.ts";
import { openDatabase } from "../app/db/connection.server.ts";
import { ConfigError, readInstalled } from "../app/process/config.server.ts";
import { hashToken } from "../app/process/crypto.server.ts";
import { createLog } from "../app/process/log.server.ts";
import { run } from "./run.ts";

// In ms.
const lives = 15 * 60_000;

await run(async () => {
  const email = process.argv[2];
  if (!email) throw new ConfigError("Falta el correo de la cuenta: npm run cuenta:entrar -- ana@ejemplo.es");
  const config = readInstalled();
  const { db, clock, close } = await openDatabase(config, createLog("warn"));
  try {
    const key = email.toLowerCase();
    const account = await db.selectFrom("users").where("emailKey", "=", key).select("id").executeTakeFirst();
    if (!account) throw new ConfigError(`Ninguna cuenta tiene el correo ${email}.`);
    const token = randomBytes(32).toString("base64url");
    const now = clock.now();
    const row = { tokenHash: hashToken(token), expiresAt: now + lives, updatedAt: now, opens: 1 as const };
    await db.transaction().execute(async (trx) => {
      await trx
        .insertInto("passwordResets")
        .values({ id: newId(), createdAt: now, userId: account.id, ...row })
        .onConflict((conflict) => conflict.column("userId").doUpdateSet(row))
        .execute();
      await appendAudit(trx, { action: "create", resource: "entry-link", ownerId: account.id });
    });
    const base = config.publicUrl ?? `http://localhost:${config.port}`;
    console.log(
      `Este enlace entra en la cuenta de ${email}, una vez, durante quince minutos:\n${base}/auth/enlace/${token}`,
    );
  } finally {
    await close();
  }
});
