import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { sql } from "kysely";
import type { Db, Engine, Trx } from "../../db/engine.server.ts";
import { isTaken } from "../../db/errors.server.ts";
import { revokeAccess } from "../../db/people/revoke-access.server.ts";
import type { UserRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { email, newPassword, refuseAddress, refuseCommon } from "../auth/accounts.server.ts";
import { hashPassword } from "../auth/passwords.server.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { notFound, Problem } from "../http/problem.server.ts";
import { line } from "../http/schemas.server.ts";
import { refuseStale } from "../http/stored-rows.server.ts";
import { stopReplies } from "../http/visibility.server.ts";
import { accountRow, joinHouse } from "./new-account.server.ts";
import { showUser } from "./user-fields.server.ts";

const role = z.enum(["user", "admin"], "Ese rol no existe.");
const status = z.enum(["active", "inactive"], "Ese estado no existe.");
export const newAccount = z.strictObject({
  name: line("El nombre", limits.name, 1),
  email,
  password: newPassword,
  role: role.default("user"),
  status: status.default("active"),
});
/** The fields of an account that only admins may change. */
export const adminFields = { role: role.optional(), status: status.optional() };

type AccountChange = Partial<z.output<typeof newAccount>>;

/** Creates an account for somebody else. Throws 403 where ADMIN_READS is `never`, 409 for a taken e-mail, 422 for invalid fields. */
export async function createAccount(c: Context<ApiEnv>, given: z.output<typeof newAccount>): Promise<UserRow> {
  const { services } = c.var;
  refuseEntering(services.config);
  await refuseCommon(given.password);
  const { password, ...shown } = given;
  const now = Date.now();
  const row = accountRow({ ...shown, passwordHash: await hashPassword(password) }, now, { entersNow: false });
  await services.db
    .transaction()
    .execute(async (trx) => {
      await trx.insertInto("users").values(row).execute();
      await joinHouse(trx, row.id, now);
      const changes = { after: shown };
      await recordAudit(trx, c, "create", "user", row.id, { changes });
    })
    .catch(addressTaken);
  return row;
}

/** Changes an account. Deactivation or a new password revokes all access. Throws 404, 409, 422. */
export async function changeAccount(c: Context<ApiEnv>, id: string, given: AccountChange): Promise<UserRow> {
  const { person, services } = c.var;
  const { password, ...shown } = given;
  if (password !== undefined) await refuseCommon(password);
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  let old: UserRow | undefined;
  const changed = await services.db
    .transaction()
    .execute(async (trx) => {
      await lockAdmins(trx, services.engine);
      const before = await trx.selectFrom("users").where("id", "=", id).selectAll().executeTakeFirstOrThrow(notFound);
      refuseStale(c, before, showUser(before, person));
      refuseAddress(shown.email, before.email);
      if (shown.role === "user" || shown.status === "inactive") await refuseLastAdmin(trx, before);
      const opens = passwordHash !== undefined || (shown.email !== undefined && shown.email !== before.email);
      if (opens && id !== person.id) {
        refuseEntering(services.config);
        old = before;
      }
      const after = await trx
        .updateTable("users")
        .set({
          ...shown,
          ...(shown.email !== undefined && { emailKey: shown.email.toLowerCase() }),
          ...(passwordHash && { passwordHash }),
          updatedAt: Date.now(),
        })
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirstOrThrow();
      if (after.status === "inactive") await shutOut(trx, id, { except: person.sessionId });
      else if (passwordHash) await revokeAccess(trx, id, { except: person.sessionId });
      const changes = {
        before: tell(before),
        after: { ...tell(after), ...(passwordHash && { password: "cambiada" }) },
      };
      await recordAudit(trx, c, "update", "user", id, { changes });
      return after;
    })
    .catch(addressTaken);
  if (old) tellChanged(services, old);
  if (changed.status === "inactive") await stopReplies(services, { userId: id });
  return changed;
}

/** An administrator who sets the password or the address of an account can sign in to it, and read its contents. */
function refuseEntering({ adminReads }: Services["config"]): void {
  if (adminReads !== "never") return;
  throw new Problem(
    403,
    "Con ADMIN_READS=never nadie pone la contraseña ni el correo de otra persona: las cuentas se hacen por invitación, y quien tiene la máquina abre una con npm run cuenta:entrar.",
  );
}

/** Sends the notice to the account's previous address. */
const tellChanged = ({ mail }: Services, { email: to }: UserRow) =>
  mail.post({
    to,
    subject: "Han cambiado cómo se entra en tu cuenta",
    text: "Hola:\n\nQuien administra la instalación ha cambiado la contraseña o el correo de tu cuenta. Si no lo has pedido, pregúntale: queda en la auditoría.\n",
  });

const tell = ({ name, email: address, role: part, status: state }: UserRow) => ({
  name,
  email: address,
  role: part,
  status: state,
});

/**
 * Locks the admins, so that two who leave at the same time can't both be counted as staying. Call it first in a
 * transaction.
 */
export async function lockAdmins(db: Db, engine: Engine): Promise<void> {
  if (engine === "postgres") await sql`lock table users in share row exclusive mode`.execute(db);
}

/** Ends all access to an account that becomes inactive. Call it in the transaction that makes the account inactive. */
export async function shutOut(trx: Trx, id: string, { except = "" } = {}): Promise<void> {
  await revokeAccess(trx, id, { except });
  // Otherwise, the person's access to other sites would come back when the account is opened again.
  await trx.deleteFrom("toolAccounts").where("userId", "=", id).execute();
  await trx.deleteFrom("driveAccounts").where("userId", "=", id).execute();
}

/** Throws 409 if the account is the only active admin. Call it after `lockAdmins`. */
export async function refuseLastAdmin(db: Db, { id, role: part }: Pick<UserRow, "id" | "role">): Promise<void> {
  if (part !== "admin") return;
  const others = db
    .selectFrom("users")
    .where("role", "=", "admin")
    .where("status", "=", "active")
    .where("id", "!=", id);
  if (await others.select("id").limit(1).executeTakeFirst()) return;
  throw new Problem(409, "Es la única cuenta que administra esta instalación: sin ella no podría hacerlo nadie.");
}

/** Turns a unique violation into a sentence for the e-mail field. */
export function addressTaken(error: unknown): never {
  throw isTaken(error) ? addressInUse() : error;
}

export function addressInUse(): Problem {
  const sentence = "Ese correo ya lo usa otra cuenta.";
  return new Problem(409, sentence, { errors: { email: sentence } });
}
