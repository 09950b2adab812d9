// `npm run auditoria:comprobar` goes through the audit trail and says what is not as it was sealed. With a number and a seal that
// were noted earlier, as the log has them, it also finds rows that are missing at the end.

import { checkAudit } from "../app/db/audit/check.server.ts";
import { sealAudit } from "../app/db/audit/seal.server.ts";
import { openDatabase } from "../app/db/connection.server.ts";
import { secretKeys } from "../app/db/stored-secrets.server.ts";
import { ConfigError, readInstalled } from "../app/process/config.server.ts";
import { createLog } from "../app/process/log.server.ts";
import { run } from "./run.ts";

await run(async () => {
  const [number, hash] = process.argv.slice(2);
  if (number && !(Number(number) > 0 && hash)) {
    throw new ConfigError("Se escribe el número de un apunte y su sello: npm run auditoria:comprobar -- 120 sello");
  }
  const config = readInstalled();
  const { db, engine, close } = await openDatabase(config, createLog("warn"));
  try {
    const { auditKey } = secretKeys(config.secret);
    await sealAudit(db, engine, auditKey);
    const { sealed, last, problems } = await checkAudit(db, auditKey, hash ? { seq: Number(number), hash } : undefined);
    for (const problem of problems) console.log(problem);
    if (problems.length > 0) throw new ConfigError("La auditoría no está como se selló.");
    console.log(`Los ${sealed} apuntes están como se sellaron.`);
    if (last) console.log(`El último, para anotarlo: ${last.seq} ${last.hash}`);
  } finally {
    await close();
  }
});
