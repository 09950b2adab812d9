import { domainToASCII } from "node:url";
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Db, Trx } from "../../db/engine.server.ts";
import { readHouse } from "../../db/house.server.ts";
import { limits } from "../../process/limits.ts";
import { domainsIn, isOfDomains } from "../access/domains.server.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { recordAudit, recordEvent } from "../http/audit.server.ts";
import { invalid, Problem } from "../http/problem.server.ts";
import { countAttempt, forgetAttempts, mayTry, networkOf } from "../http/rate-limit.server.ts";
import { line, text } from "../http/schemas.server.ts";
import { accountRow, isFirstAccount, storeAccount } from "../users/new-account.server.ts";
import {
  accountOfTicket,
  hasAuthenticator,
  makeTicket,
  normalCode,
  type secondStep,
  spendCode,
} from "./authenticator-codes.server.ts";
import { checkPassword, hashPassword, isCommonPassword } from "./passwords.server.ts";
import { openSession, type Tokens } from "./session-tokens.server.ts";

// Addresses of RFC 5321 without quotes, at a domain with a point or on this machine.
const address = /^[\w.!#$%&'*+/=?^`{|}~-]+@(?:[\w-]+(?:\.[\w-]+)+|localhost)$/;

/** An address with its domain as DNS has it: «ana@español.es» is «ana@xn--espaol-zwa.es». */
const inAscii = (said: string) => {
  const at = said.lastIndexOf("@");
  return at < 0 ? said : `${said.slice(0, at)}@${domainToASCII(said.slice(at + 1)) || said.slice(at + 1)}`;
};

/** The address of an account as a request has it: one that was stored before is not checked again. */
export const emailAsGiven = text("El correo electrónico", limits.email, 1).transform(inAscii);
export const email = emailAsGiven
  .pipe(z.string().regex(address, "El correo electrónico no está completo. Escríbelo entero, como nombre@ejemplo.es."))
  .openapi({ format: "email", maxLength: limits.email });
export const credentials = z.object({
  email: emailAsGiven,
  password: z
    .string("Falta la contraseña.")
    .min(1, "Falta la contraseña.")
    .max(1000, "La contraseña es demasiado larga."),
});
export const newPassword = z
  .string("Falta la contraseña.")
  .min(limits.passwordMin, `La contraseña tiene que tener ${limits.passwordMin} caracteres o más.`)
  .max(limits.passwordMax, `La contraseña puede tener ${limits.passwordMax} caracteres como mucho.`);
export const registration = z.object({
  name: line("El nombre", limits.name, 1),
  email,
  password: newPassword,
});

/** Throws 422 for a new address that is none; one that an organisation has given stays as it is. */
export function refuseAddress(given: string | undefined, before: string): void {
  if (given === undefined || given === before) return;
  const { error } = email.safeParse(given);
  if (error) throw invalid("email", error.issues[0]?.message ?? "");
}

/** Throws 422 for one of the most common passwords. */
export async function refuseCommon(password: string): Promise<void> {
  if (await isCommonPassword(password)) {
    throw invalid("password", "Esa contraseña es de las más usadas y se adivina enseguida. Elige otra.");
  }
}

/**
 * Creates an account and its first session; the first account becomes admin. Throws 403 if sign-up is closed, 409 for a
 * taken e-mail, 422.
 */
export async function signUp(c: Context<ApiEnv>, given: z.output<typeof registration>): Promise<Tokens> {
  const { db, engine, clock, config } = c.var.services;
  refusePasswords(c.var.services);
  await refuseCommon(given.password);
  const passwordHash = await hashPassword(given.password);
  const now = clock.now();
  const account = await db.transaction().execute(async (trx) => {
    const first = await isFirstAccount(trx, engine);
    if (config.signup === "closed" && !first) {
      throw new Problem(403, "El registro está cerrado. Pide una cuenta a quien administra esta instalación.");
    }
    if (!first) await refuseOtherDomains(trx, given.email);
    const { name, email } = given;
    const row = accountRow({ name, email, passwordHash, role: first ? "admin" : "user", status: "active" }, now, {
      entersNow: true,
    });
    if (!(await storeAccount(trx, row))) {
      throw new Problem(409, "El usuario ya se encuentra registrado en la plataforma", {
        errors: { email: "El usuario ya se encuentra registrado en la plataforma" },
      });
    }
    await recordAudit(trx, c, "signup", "user", row.id, { actorId: row.id });
    return row;
  });
  return openSession(c.var.services, { userId: account.id, ...deviceOf(c) });
}

/**
 * Throws 403 if a person who owes a second step already has a passkey: with the password alone nobody must replace that passkey.
 */
export async function refuseOwnedPasskey(c: Context<ApiEnv>): Promise<void> {
  const { person, services } = c.var;
  if (!person.owesSecondStep) return;
  const passkey = services.db.selectFrom("passkeys").where("userId", "=", person.id).select("id").limit(1);
  if (await passkey.executeTakeFirst()) throw new Problem(403, "Ya tienes una llave de acceso: sal y entra con ella.");
}

/** Throws 403 if this installation does not allow sign-in with a password. */
export function refusePasswords({ config }: Services): void {
  if (!config.passwordSignin) throw new Problem(403, "Aquí no se entra con contraseña: entra con tu organización.");
}

export const deviceOf = (c: Context<ApiEnv>) => ({ userAgent: c.req.header("User-Agent") ?? "", ip: c.env.ip });

/** Throws 422 for an address of another domain than those that may sign up. */
async function refuseOtherDomains(trx: Trx, address: string): Promise<void> {
  const domains = domainsIn((await readHouse(trx)).signupDomains);
  if (domains.length === 0 || isOfDomains(address, domains)) return;
  throw invalid("email", `Aquí solo se crean cuentas con un correo de ${domains.join(" o ")}.`);
}

/** Whether sign-up is open; always true on an empty installation, unless sign-in with a password is off. */
export async function mayJoin({ db, config }: Services): Promise<boolean> {
  if (!config.passwordSignin) return false;
  return config.signup === "open" || !(await db.selectFrom("users").select("id").limit(1).executeTakeFirst());
}

/**
 * Signs in with a password: returns tokens, or a ticket if a code is required as well.
 * Throws the same 401 for a wrong password and an unknown address, 429 after too many attempts.
 */
export async function signIn(
  c: Context<ApiEnv>,
  { email, password }: z.output<typeof credentials>,
): Promise<Tokens | { ticket: string }> {
  const { services } = c.var;
  refusePasswords(services);
  const emailKey = email.toLowerCase();
  await countAttempt(c, "signinAddress", networkOf(c));
  const here = `${networkOf(c)} ${emailKey}`;
  const locked = (where: string) => (minutes: number) => tellLocked(c, emailKey, where, minutes);
  await countAttempt(c, "signinAccount", here, locked("Desde allí no se puede entrar en ella"));
  await countAttempt(c, "signinEverywhere", emailKey, locked("Nadie puede entrar en ella con la contraseña"));
  const account = await services.db
    .selectFrom("users")
    .where("emailKey", "=", emailKey)
    .select(["id", "passwordHash"])
    .executeTakeFirst();
  if (!(await checkPassword(account?.passwordHash, password)) || !account) {
    await recordEvent(c, "signin-failed", "user", account?.id ?? null, { actorId: null });
    throw new Problem(401, "El correo o la contraseña no son correctos.");
  }
  await forgetAttempts(services, "signinAccount", here);
  if (await hasAuthenticator(services.db, account.id)) return { ticket: makeTicket(services, account) };
  return enter(c, account.id);
}

/**
 * Records that sign-in to an account is blocked for some minutes, and tells its person, a few times an hour at most. `where`: the clause
 * that says from which places it is blocked.
 */
async function tellLocked(c: Context<ApiEnv>, emailKey: string, where: string, minutes: number): Promise<void> {
  const { services } = c.var;
  const { db, mail, log } = services;
  const account = await db
    .selectFrom("users")
    .where("emailKey", "=", emailKey)
    .select(["id", "email"])
    .executeTakeFirst();
  await recordEvent(c, "signin-locked", "user", account?.id ?? null, { actorId: null }).catch((error) =>
    log.error({ err: error }, "no se pudo apuntar un bloqueo"),
  );
  if (!account || !(await mayTry(services, "resetAccount", `locked ${emailKey}`))) return;
  mail.post({
    to: account.email,
    subject: "Demasiados intentos de entrar en tu cuenta",
    text: `Hola:\n\nAlguien ha intentado entrar en tu cuenta muchas veces, la última desde ${c.env.ip}. ${where} durante ${minutes} minutos.\n\nSi no has sido tú, no hace falta que hagas nada: tu contraseña sigue siendo la misma. La verificación en dos pasos hace que adivinarla no baste.\n`,
  });
}

/**
 * Completes a sign-in with a code of an authenticator app or a recovery code. Throws 401 for a wrong code or an expired
 * ticket.
 */
export async function signInWithCode(
  c: Context<ApiEnv>,
  { ticket, code }: z.output<typeof secondStep>,
): Promise<Tokens> {
  const { services } = c.var;
  const account = await accountOfTicket(services, ticket);
  if (!account) throw new Problem(401, "Ha pasado demasiado tiempo. Escribe otra vez el correo y la contraseña.");
  await countAttempt(c, "signinCode", account.id);
  if (!(await spendCode(services, account.id, code))) {
    await recordEvent(c, "signin-failed", "user", account.id, { actorId: null });
    throw invalid(
      "code",
      "El código no es correcto, o ya se ha usado. Escribe el que muestra ahora tu aplicación, o espera al siguiente.",
    );
  }
  await forgetAttempts(services, "signinCode", account.id);
  return enter(c, account.id);
}

/**
 * Throws 422 unless the password is that account's and, where it has an authenticator app, the code as well. Counted like sign-ins.
 */
export async function provesAccount(c: Context<ApiEnv>, userId: string, password: string, code: string): Promise<void> {
  const { services } = c.var;
  await countAttempt(c, "signinAddress", networkOf(c));
  await countAttempt(c, "confirm", userId);
  const account = await services.db
    .selectFrom("users")
    .where("id", "=", userId)
    .select("passwordHash")
    .executeTakeFirst();
  if (!(await checkPassword(account?.passwordHash, password))) {
    throw invalid("password", "La contraseña no es correcta.");
  }
  if ((await hasAuthenticator(services.db, userId)) && !(await spendCode(services, userId, normalCode(code)))) {
    throw invalid(
      "code",
      "El código no es correcto, o ya se ha usado. Escribe el que muestra ahora tu aplicación, o espera al siguiente.",
    );
  }
  await forgetAttempts(services, "confirm", userId);
}

/** Opens a session of an account whose owner has proven who they are. */
export async function enter(c: Context<ApiEnv>, userId: string): Promise<Tokens> {
  const { services } = c.var;
  return services.db.transaction().execute(async (trx) => {
    await recordAudit(trx, c, "signin", "user", userId, { actorId: userId });
    return openSession({ ...services, db: trx }, { userId, ...deviceOf(c) });
  });
}

// In ms: a person without a password confirms an action by a sign-in that is no older than this.
const justCameIn = 10 * 60_000;

/**
 * Throws 422 unless the password is the person's own; counted like sign-ins. People without a password, because they sign in with a
 * provider, must have signed in a moment ago.
 */
export async function confirmPassword(c: Context<ApiEnv>, password: string | undefined): Promise<void> {
  const { services, person } = c.var;
  if (await hasNoPassword(services.db, person.id)) return refuseOldSession(services, person.sessionId);
  if (!password) throw invalid("currentPassword", "Escribe tu contraseña actual para confirmar.");
  const account = await services.db
    .selectFrom("users")
    .where("id", "=", person.id)
    .select("passwordHash")
    .executeTakeFirst();
  await countAttempt(c, "confirm", person.id);
  if (!(await checkPassword(account?.passwordHash, password))) {
    throw invalid("currentPassword", "La contraseña actual no es correcta.");
  }
  await forgetAttempts(services, "confirm", person.id);
}

async function hasNoPassword(db: Db, userId: string): Promise<boolean> {
  const account = await db.selectFrom("users").where("id", "=", userId).select("passwordHash").executeTakeFirst();
  return account?.passwordHash === "";
}

async function refuseOldSession({ db, clock }: Services, sessionId: string): Promise<void> {
  const session = await db.selectFrom("sessions").where("id", "=", sessionId).select("createdAt").executeTakeFirst();
  if (clock.now() - (session?.createdAt ?? 0) < justCameIn) return;
  throw invalid(
    "currentPassword",
    "Tu cuenta no tiene contraseña. Para confirmar que eres tú, cierra la sesión, entra otra vez y repítelo antes de diez minutos.",
  );
}
