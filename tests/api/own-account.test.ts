import { strFromU8, unzipSync } from "fflate";
import { TOTP } from "otpauth";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { password } from "../support/password.ts";

const engines = await ruleEngines();
const newPassword = "otra frase bien larga";

describe.each(engines)("one's own account on $name", (engine) => {
  let api: Api;
  let mails: MailServer;
  beforeAll(async () => {
    mails = await startMailServer();
    api = await openApi(engine, { mail: { smtpUrl: mails.url, mailTo: "casa@ejemplo.es", mailFrom: undefined } });
    await api.signUp("Admin");
  });
  afterAll(async () => {
    await api.close();
    await mails.stop();
  });

  const change = (account: Account, json: object) =>
    api.call("PATCH", `/api/user/${account.id}`, { token: account.token, json });
  const signIn = (email: string, word = password) =>
    api.call("POST", "/auth/signin", { json: { email, password: word } });
  const session = (token: string) => api.call("GET", "/auth/session", { token });

  it("requires the current password for a new e-mail or password", async () => {
    const ana = await api.signUp();
    expect((await change(ana, { name: "Ana María" })).body).toMatchObject({ name: "Ana María" });
    for (const json of [{ email: "nueva@ejemplo.es" }, { password: newPassword }]) {
      expect((await change(ana, json)).body).toMatchObject({
        status: 422,
        errors: { currentPassword: "Escribe tu contraseña actual para confirmar." },
      });
      expect((await change(ana, { ...json, currentPassword: "no es esta" })).body).toMatchObject({
        status: 422,
        errors: { currentPassword: "La contraseña actual no es correcta." },
      });
    }
    expect((await signIn(ana.email)).status).toBe(200);
  });

  it("signs in with a new e-mail that no account uses", async () => {
    const [ana, bea] = [await api.signUp(), await api.signUp("Bea")];
    const taken = await change(ana, { email: bea.email.toUpperCase(), currentPassword: password });
    expect(taken.body).toMatchObject({ status: 409, errors: { email: "Ese correo ya lo usa otra cuenta." } });
    const email = `Nueva-${ana.email}`;
    expect((await change(ana, { email, currentPassword: password })).status).toBe(200);
    expect(await mails.nextTo(ana.email)).toContain("Desde ahora tu cuenta usa");
    expect((await signIn(email.toLowerCase())).status).toBe(200);
    expect((await signIn(ana.email)).status).toBe(401);
  });

  it("ends all other sessions but this one after password changes", async () => {
    const ana = await api.signUp();
    const other = await signIn(ana.email);
    expect((await change(ana, { password: newPassword, currentPassword: password })).status).toBe(200);
    expect((await session(other.text)).status).toBe(401);
    expect((await session(ana.token)).status).toBe(200);
    expect((await signIn(ana.email)).status).toBe(401);
    expect((await signIn(ana.email, newPassword)).status).toBe(200);
  });

  it("grants a new e-mail to one of several simultaneous requests", async () => {
    const people = await Promise.all([1, 2, 3, 4].map(() => api.signUp()));
    const email = `misma-${people[0]?.email}`;
    const answers = await Promise.all(people.map((person) => change(person, { email, currentPassword: password })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });

  it("ends other sessions and old reset links after e-mail changes", async () => {
    const ana = await api.signUp();
    const other = await signIn(ana.email);
    await api.call("POST", "/auth/reset", { json: { email: ana.email } });
    const token = /\/auth\/reset\/([\w-]+)/.exec(await mails.nextTo(ana.email))?.[1];
    await change(ana, { email: `nueva-${ana.email}`, currentPassword: password });
    expect((await session(other.text)).status).toBe(401);
    expect((await session(ana.token)).status).toBe(200);
    const used = await api.call("PUT", `/auth/reset/${token}`, { json: { password: newPassword } });
    expect(used.status).toBe(422);
  });

  it("stays usable by the owner while others guess the password", async () => {
    const ana = await api.signUp();
    // Ten are let through; twice as many where some are counted in the process alone, while every connection is in use.
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 21; attempt++) statuses.push((await signIn(ana.email, "no es esta")).status);
    expect(statuses).toContain(429);
    expect((await change(ana, { password: newPassword, currentPassword: password })).status).toBe(200);
  });

  it("refuses a role, a status and somebody else's account", async () => {
    const [ana, bea] = [await api.signUp(), await api.signUp("Bea")];
    for (const json of [{ role: "admin" }, { status: "active" }, { userId: bea.id }]) {
      expect((await change(ana, json)).status).toBe(422);
    }
    const { token } = ana;
    const json = { currentPassword: password };
    expect((await api.call("PATCH", `/api/user/${bea.id}`, { token, json: { name: "X" } })).status).toBe(404);
    expect((await api.call("DELETE", `/api/user/${bea.id}`, { token, json })).status).toBe(404);
    expect((await api.call("GET", `/api/user/${bea.id}/export`, { token })).status).toBe(404);
  });

  it("lists open sessions and ends one or all others", async () => {
    const ana = await api.signUp();
    const [second, third] = [(await signIn(ana.email)).text, (await signIn(ana.email)).text];
    const list = async () =>
      (
        (await api.call("GET", "/auth/sessions", { token: ana.token })).body as {
          items: { id: string; current: boolean }[];
        }
      ).items;
    const open = await list();
    expect(open).toHaveLength(3);
    expect(open.filter(({ current }) => current)).toHaveLength(1);
    const bea = await api.signUp("Bea");
    const end = (id: string, token: string) => api.call("DELETE", `/auth/sessions/${id}`, { token });
    const ended = open.find(({ current }) => !current)?.id ?? "";
    expect((await end(ended, bea.token)).status).toBe(404);
    expect((await end(ended, ana.token)).status).toBe(204);
    expect([(await session(second)).status, (await session(third)).status].sort()).toEqual([200, 401]);
    expect((await api.call("DELETE", "/auth/sessions", { token: ana.token })).status).toBe(204);
    expect(await list()).toMatchObject([{ current: true }]);
  });

  it("counts its use by day, quiet days too", async () => {
    const ana = await api.signUp();
    await api.converse(ana.token, { content: "Hola" });
    const answer = await api.call("GET", "/api/usage?days=7", { token: ana.token });
    const { days } = answer.body as { days: { day: string; messages: number }[] };
    expect(days.map(({ messages }) => messages)).toEqual([0, 0, 0, 0, 0, 0, 1]);
    expect(days.at(-1)?.day).toBe(new Date().toISOString().slice(0, 10));
    expect((await api.call("GET", "/api/usage?days=1000", { token: ana.token })).status).toBe(422);
  });

  it("exports all data of the owner alone as a ZIP", async () => {
    const [ana, bea] = [await api.signUp(), await api.signUp("Bea")];
    await api.converse(ana.token, { content: "Un título con / y «comillas»" });
    await api.converse(bea.token, { content: "Secreto de Bea" });
    const response = await api.fetch(`/api/user/${ana.id}/export`, ana.token);
    // Ten in an hour.
    expect(response.headers.get("RateLimit-Limit")).toBe("10");
    expect(Number(response.headers.get("RateLimit-Reset"))).toBeGreaterThan(3_000);
    expect(response.headers.get("Content-Type")).toBe("application/zip");
    const files = unzipSync(new Uint8Array(await response.arrayBuffer()));
    const names = Object.keys(files).sort();
    expect(names).toHaveLength(3);
    expect(names[0]).toMatch(/^conversaciones\/\d{4}-\d\d-\d\d Un título con y «comillas» \w{6}\.json$/);
    expect(names[1]).toMatch(/\.md$/);
    const text = names.map((name) => strFromU8(files[name] as Uint8Array));
    expect(JSON.parse(text[0] ?? "")).toMatchObject({
      messages: [{ role: "user" }, { role: "assistant", model: "Asistente local", status: "complete" }],
    });
    expect(text[1]).toMatch(/\n# Un título.*\n\n\*Contesta una máquina\.\*\n\n## Tú \(/);
    expect(JSON.parse(text[2] ?? "")).toMatchObject({ user: { email: ana.email } });
    expect(text.join()).not.toMatch(/Secreto de Bea|argon2|Hash/);
  });

  it("is deleted with all data after confirming the password", async () => {
    const ana = await api.signUp();
    await api.converse(ana.token, { content: "Adiós" });
    const remove = (currentPassword: string) =>
      api.call("DELETE", `/api/user/${ana.id}`, { token: ana.token, json: { currentPassword } });
    expect((await remove("no es esta")).status).toBe(422);
    await signIn(ana.email, "no es esta");
    expect((await remove(password)).status).toBe(204);
    expect((await session(ana.token)).status).toBe(401);
    expect((await signIn(ana.email)).status).toBe(401);
    for (const table of ["chats", "messages", "usage", "subscriptions", "sessions"] as const) {
      expect(await api.db.selectFrom(table).where("userId", "=", ana.id).selectAll().execute()).toEqual([]);
    }
    const trace = await api.db
      .selectFrom("audit")
      .where((e) => e.or([e("actorId", "=", ana.id), e("resourceId", "=", ana.id)]))
      .select(["action", "ip"])
      .execute();
    expect(trace.map(({ action }) => action)).toContain("delete");
    // Addresses of the person go with them; those of tries of their password and of the account's end stay.
    const ipOf = (one: string) => new Set(trace.filter(({ action }) => action === one).map(({ ip }) => ip));
    expect(["signup", "signin-failed", "delete"].map((action) => [...ipOf(action)])).toEqual([
      [""],
      ["127.0.0.1"],
      ["127.0.0.1"],
    ]);
  });

  it("of the last admin stays", async () => {
    const alone = await openApi(engine);
    const admin = await alone.signUp("Admin");
    const answer = await alone.call("DELETE", `/api/user/${admin.id}`, {
      token: admin.token,
      json: { currentPassword: password },
    });
    expect(answer.status).toBe(409);
    expect((answer.body as { detail: string }).detail).toContain("única cuenta que administra");
    await alone.close();
  });

  describe("a forgotten password", () => {
    const ask = (email: string) => api.call("POST", "/auth/reset", { json: { email } });
    const use = (token: string, word = newPassword) =>
      api.call("PUT", `/auth/reset/${token}`, { json: { password: word } });
    const mailedToken = async ({ email }: Account) =>
      /https:\/\/tertulia\.example\/auth\/reset\/([\w-]+)/.exec(await mails.nextTo(email))?.[1] ?? "";

    it("is reset once by an e-mailed link, ending all sessions", async () => {
      const ana = await api.signUp();
      expect((await ask(ana.email)).status).toBe(202);
      const token = await mailedToken(ana);
      expect((await use(token, "12345678")).body).toMatchObject({
        status: 422,
        errors: { password: expect.anything() },
      });
      expect((await use(token)).status).toBe(204);
      expect((await session(ana.token)).status).toBe(401);
      expect((await signIn(ana.email, newPassword)).status).toBe(200);
      expect((await use(token)).status).toBe(422);
    });

    it("answers alike for an unknown address and sends no e-mail", async () => {
      expect((await ask("nadie@ejemplo.es")).status).toBe(202);
      expect(mails.received.filter((message) => message.includes("nadie@"))).toEqual([]);
    });

    it("expires reset links after an hour or with newer links", async () => {
      const ana = await api.signUp();
      await ask(ana.email);
      const first = await mailedToken(ana);
      await ask(ana.email);
      const second = await mailedToken(ana);
      expect((await use(first)).status).toBe(422);
      await api.db
        .updateTable("passwordResets")
        .set({ expiresAt: Date.now() - 1 })
        .execute();
      expect((await use(second)).status).toBe(422);
      expect((await signIn(ana.email)).status).toBe(200);
    });

    it("without e-mail says whom to ask", async () => {
      const silent = await openApi(engine);
      const answer = await silent.call("POST", "/auth/reset", { json: { email: "a@ejemplo.es" } });
      expect(answer.status).toBe(503);
      expect((answer.body as { detail: string }).detail).toContain("a quien la administra");
      expect((await silent.call("GET", "/auth/options")).body).toEqual({
        signup: true,
        reset: false,
        password: true,
        accesses: [],
      });
      await silent.close();
    });
  });

  describe("two-step sign-in", () => {
    const codeOf = (secret: string, at = Date.now()) => new TOTP({ secret }).generate({ timestamp: at });
    const withCode = (ticket: string, code: string) =>
      api.call("POST", "/auth/signin/code", { json: { ticket, code } });

    async function protect(account: Account) {
      const { token } = account;
      const begun = (await api.call("POST", "/auth/authenticator", { token })).body as { secret: string; uri: string };
      expect(begun.uri).toContain("otpauth://totp/Tertulia");
      const json = { secret: begun.secret, code: codeOf(begun.secret), currentPassword: password };
      const confirmed = await api.call("PUT", "/auth/authenticator", { token, json });
      expect(confirmed.status).toBe(200);
      const { recoveryCodes: codes } = confirmed.body as { recoveryCodes: string[] };
      return { secret: begun.secret, spent: json.code, codes };
    }

    it("keeps each pending secret to one session (guard: pendingSecrets)", async () => {
      const ana = await api.signUp("Ana");
      const other = (await signIn(ana.email)).text;
      const begin = async (token: string) =>
        ((await api.call("POST", "/auth/authenticator", { token })).body as { secret: string }).secret;
      const secret = await begin(ana.token);
      expect(await begin(ana.token)).toBe(secret);
      expect(await begin(other)).not.toBe(secret);
      const json = { secret, code: codeOf(secret), currentPassword: password };
      expect((await api.call("PUT", "/auth/authenticator", { token: other, json })).status).toBe(409);
      expect(await api.db.selectFrom("authenticators").where("userId", "=", ana.id).selectAll().execute()).toEqual([]);
      expect((await api.call("PUT", "/auth/authenticator", { token: ana.token, json })).status).toBe(200);
    });

    const ticketFor = async (email: string) => {
      const answer = await signIn(email);
      expect(answer.status).toBe(401);
      return (answer.body as { ticket: string }).ticket;
    };

    it("changes nothing until a first code was right", async () => {
      const ana = await api.signUp();
      const { token } = ana;
      const { secret } = (await api.call("POST", "/auth/authenticator", { token })).body as { secret: string };
      const wrong = await api.call("PUT", "/auth/authenticator", {
        token,
        json: { secret, code: "000000", currentPassword: password },
      });
      expect(wrong.body).toMatchObject({ status: 422, errors: { code: expect.anything() } });
      expect((await signIn(ana.email)).status).toBe(200);
    });

    it("then asks for a code, which holds once", async () => {
      const ana = await api.signUp();
      const { secret, spent } = await protect(ana);
      const ticket = await ticketFor(ana.email);
      expect((await withCode(ticket, "000000")).status).toBe(422);
      // The code that confirmed it is spent; the phone's next one is not.
      expect((await withCode(ticket, spent)).status).toBe(422);
      const next = codeOf(secret, Date.now() + 30_000);
      const both = await Promise.all([withCode(ticket, next), withCode(ticket, next)]);
      expect(both.map(({ status }) => status).sort()).toEqual([200, 422]);
      const entered = both.find(({ status }) => status === 200);
      expect((await session(entered?.text ?? "")).status).toBe(200);
    });

    it("accepts each recovery code once, with or without the hyphen", async () => {
      const ana = await api.signUp();
      const { codes } = await protect(ana);
      expect(new Set(codes).size).toBe(10);
      const ticket = await ticketFor(ana.email);
      const [first = "", second = ""] = codes;
      expect((await withCode(ticket, first)).status).toBe(200);
      expect((await withCode(ticket, first)).status).toBe(422);
      expect((await withCode(ticket, second.replace("-", "").toUpperCase())).status).toBe(200);
      const state = await api.call("GET", "/auth/authenticator", { token: ana.token });
      expect(state.body).toEqual({ enabled: true, recoveryCodesLeft: 8 });
    });

    it("is activated once despite several simultaneous requests", async () => {
      const ana = await api.signUp();
      const { token } = ana;
      const begin = () => api.call("POST", "/auth/authenticator", { token });
      const secrets = (await Promise.all([begin(), begin(), begin()])).map(
        ({ body }) => (body as { secret: string }).secret,
      );
      const { secret } = (await begin()).body as { secret: string };
      expect(secrets).toContain(secret);
      const json = { secret, code: codeOf(secret), currentPassword: password };
      const confirm = () => api.call("PUT", "/auth/authenticator", { token, json });
      const answers = await Promise.all([confirm(), confirm(), confirm()]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    });

    it("is activated with the password alone, and ends other sessions", async () => {
      const ana = await api.signUp();
      const other = await signIn(ana.email);
      const { secret } = (await api.call("POST", "/auth/authenticator", { token: ana.token })).body as {
        secret: string;
      };
      const json = { secret, code: codeOf(secret), currentPassword: "no es esta" };
      const answer = await api.call("PUT", "/auth/authenticator", { token: ana.token, json });
      expect(answer.body).toMatchObject({ status: 422, errors: { currentPassword: expect.anything() } });
      const confirmed = await api.call("PUT", "/auth/authenticator", {
        token: ana.token,
        json: { ...json, currentPassword: password },
      });
      expect(confirmed.status).toBe(200);
      expect((await session(other.text)).status).toBe(401);
    });

    it("refuses forged tickets and tickets older than a password change", async () => {
      const ana = await api.signUp();
      const { codes } = await protect(ana);
      const ticket = await ticketFor(ana.email);
      const [id, expires, proof] = ticket.split(".");
      for (const forged of ["", "x", `${id}.${Number(expires) + 1}.${proof}`, `${id}.${expires}.${"A".repeat(43)}`]) {
        expect((await withCode(forged, codes[0] ?? "")).status).toBe(401);
      }
      await change(ana, { password: newPassword, currentPassword: password });
      expect((await withCode(ticket, codes[0] ?? "")).status).toBe(401);
    });

    it("stops guessing after ten codes", async () => {
      const ana = await api.signUp();
      await protect(ana);
      const ticket = await ticketFor(ana.email);
      for (let attempt = 0; attempt < 10; attempt++) await withCode(ticket, "000000");
      expect((await withCode(ticket, "000000")).status).toBe(429);
    });

    it("goes away with the password alone", async () => {
      const ana = await api.signUp();
      await protect(ana);
      const off = (currentPassword: string) =>
        api.call("DELETE", "/auth/authenticator", { token: ana.token, json: { currentPassword } });
      expect((await off("no es esta")).status).toBe(422);
      expect((await off(password)).status).toBe(204);
      expect((await signIn(ana.email)).status).toBe(200);
    });

    it("keeps no secret in plain text", async () => {
      const ana = await api.signUp();
      const { secret, codes } = await protect(ana);
      const stored = JSON.stringify(await api.db.selectFrom("authenticators").selectAll().execute());
      expect(stored).not.toContain(secret);
      expect(stored).not.toContain((codes[0] ?? "").replace("-", ""));
    });
  });
});

describe.each(engines)("contact and support on $name", (engine) => {
  it("store each message and e-mail it with a reply address", async () => {
    const mails = await startMailServer();
    const api = await openApi(engine, { mail: { smtpUrl: mails.url, mailTo: "casa@ejemplo.es", mailFrom: undefined } });
    const json = { name: "Ana", email: "ana@ejemplo.es", message: "  ¿Hay sitio?  ", key: "clave-1" };
    const answer = await api.call("POST", "/api/email/contact", { json });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ name: "Ana", message: "¿Hay sitio?" });
    const mail = await mails.nextTo("casa@ejemplo.es");
    expect(mail).toContain("Reply-To: Ana <ana@ejemplo.es>");
    await expect
      .poll(async () => (await api.db.selectFrom("emails").selectAll().executeTakeFirst())?.sentAt)
      .toBeTypeOf("number");
    expect((await api.call("POST", "/api/email/contact", { json })).status).toBe(201);
    expect(await api.db.selectFrom("emails").selectAll().execute()).toHaveLength(1);
    await api.close();
    await mails.stop();
  });

  it("keep messages apart when the same key is used again", async () => {
    const api = await openApi(engine);
    const send = (kind: string, name: string) =>
      api.call("POST", `/api/email/${kind}`, { json: { name, email: "x@ejemplo.es", message: "Hola", key: "una" } });
    await send("contact", "Ana");
    expect((await send("support", "Eva")).body).toMatchObject({ name: "Eva" });
    expect((await send("contact", "Eva")).body).toMatchObject({ name: "Eva" });
    await Promise.all([send("contact", "Ana"), send("contact", "Ana")]);
    expect(await api.db.selectFrom("emails").selectAll().execute()).toHaveLength(3);
    await api.close();
  });

  it("store the message when the mail server is unreachable", async () => {
    const api = await openApi(engine, {
      mail: { smtpUrl: "smtp://127.0.0.1:9", mailTo: "casa@ejemplo.es", mailFrom: undefined },
    });
    const json = { name: "Ana", email: "ana@ejemplo.es", message: "Hola\r\nBcc: x@y.es" };
    expect((await api.call("POST", "/api/email/support", { json })).status).toBe(201);
    expect(await api.db.selectFrom("emails").select(["kind", "sentAt"]).execute()).toEqual([
      { kind: "support", sentAt: null },
    ]);
    const refused = await api.call("POST", "/api/email/support", { json: { name: "", email: "x", message: "" } });
    expect(refused.body).toMatchObject({
      status: 422,
      errors: { name: "Falta el nombre.", email: expect.anything(), message: "Falta el mensaje." },
    });
    for (let count = 0; count < 20; count++) await api.call("POST", "/api/email/support", { json });
    expect((await api.call("POST", "/api/email/support", { json })).status).toBe(429);
    await api.close();
  });
});

describe.each(engines)("pages on $name", (engine) => {
  it("are public from the start; administrators alone see unpublished ones", async () => {
    const api = await openApi(engine);
    const list = async (token = "") =>
      (await api.call("GET", "/api/page", { token })).body as { items: { id: string; slug: string }[] };
    const slugs = ["inicio", "servicios", "sobre-nosotros", "soporte", "contacto"];
    const { items } = await list();
    expect(items.map(({ slug }) => slug)).toEqual(slugs);
    const admin = await api.signUp("Admin");
    const ana = await api.signUp();
    const id = items[0]?.id ?? "";
    await api.db.updateTable("pages").set({ published: 0 }).where("id", "=", id).execute();
    for (const token of ["", ana.token]) {
      expect((await list(token)).items).toHaveLength(4);
      expect((await api.call("GET", `/api/page/${id}`, { token })).status).toBe(404);
    }
    expect((await list(admin.token)).items).toHaveLength(5);
    expect((await api.call("GET", `/api/page/${id}`, { token: admin.token })).status).toBe(200);
    expect((await api.call("GET", "/api/page", { token: "caducado" })).status).toBe(401);
    await api.close();
  });
});
