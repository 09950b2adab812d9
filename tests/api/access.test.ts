import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { forgetAttempts } from "../../app/api/http/rate-limit.server.ts";
import { hashToken } from "../../app/process/crypto.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { type IdentityProvider, startIdentityProvider } from "../support/identity-provider.ts";
import { signInThere } from "../support/oauth-tool-server.ts";
import { password } from "../support/password.ts";

const redirect = "https://tertulia.example/auth/oidc/callback";
type Begun = { url: string; state: string; nonce: string; verifier: string };

for (const engine of await ruleEngines()) {
  describe(`coming in by a provider on ${engine.name}`, () => {
    let api: Api;
    let admin: Account;
    let provider: IdentityProvider;
    let other: IdentityProvider;
    let accessId: string;
    beforeAll(async () => {
      api = await openApi(engine);
      [provider, other] = await Promise.all([startIdentityProvider([redirect]), startIdentityProvider([redirect])]);
      admin = await api.signUp("Admin");
      accessId = await addAccess(provider);
    });
    afterAll(async () => {
      await Promise.all([api.close(), provider.stop(), other.stop()]);
    });

    const made = async (path: string, json: object) => {
      const answer = await api.call("POST", path, { token: admin.token, json });
      if (answer.status !== 201) throw new Error(answer.text);
      return (answer.body as { id: string }).id;
    };
    const addAccess = (
      { issuer, clientId, clientSecret }: Pick<IdentityProvider, "issuer" | "clientId" | "clientSecret">,
      more = {},
    ) =>
      made("/api/access", { name: "la casa", kind: "oidc", address: issuer, clientId, secret: clientSecret, ...more });
    const begin = async (id = accessId) => {
      const answer = await api.call("POST", `/auth/oidc/${id}`, { json: { redirect } });
      if (answer.status !== 200) throw new Error(answer.text);
      return answer.body as Begun;
    };
    const end = ({ state, nonce, verifier }: Begun, back: URL, id = accessId) =>
      api.call("POST", `/auth/oidc/${id}/end`, {
        json: { redirect, brought: back.search.slice(1), state, nonce, verifier },
      });
    const comeIn = async (login: string, id = accessId) => {
      const begun = await begin(id);
      return end(begun, await signInThere(begun.url, redirect, login), id);
    };
    const session = async (token: string) =>
      (await api.call("GET", "/auth/session", { token })).body as {
        user: { id: string; name: string; email: string; role: string; hasPassword: boolean };
        groups: { name: string }[];
      };
    const detail = (answer: { body: never }) => (answer.body as { detail: string }).detail;

    it("creates an account at first sign-in and reuses it later", async () => {
      provider.people.set("ana", { email: "ana@casa.es", email_verified: true, name: "Ana  Gil" });
      const first = await comeIn("ana");
      expect(first.status).toBe(200);
      const { user } = await session(first.text);
      expect(user).toMatchObject({ name: "Ana Gil", email: "ana@casa.es", role: "user", hasPassword: false });
      // Whatever becomes of the address there: who it is does not change.
      provider.people.set("ana", { email: "otra@casa.es", email_verified: false, name: "Ana" });
      const again = await comeIn("ana");
      expect((await session(again.text)).user.id).toBe(user.id);
      const wrong = await api.call("POST", "/auth/signin", { json: { email: "ana@casa.es", password: "x" } });
      expect(wrong.status).toBe(401);
    });

    it("syncs groups and role at each sign-in, keeping manual memberships", async () => {
      const legal = await made("/api/group", { name: "Legal", claim: "casa-legal" });
      const manual = await made("/api/group", { name: "A mano" });
      await made("/api/group", { name: "Ventas", claim: "casa-ventas" });
      const ruled = await addAccess(provider, { name: "con jefes", adminGroup: "jefes" });
      provider.people.set("bea", {
        email: "bea@casa.es",
        email_verified: true,
        groups: ["casa-legal", "jefes", "nada"],
      });
      const first = await session((await comeIn("bea", ruled)).text);
      expect(first.user.role).toBe("admin");
      expect(first.groups.map(({ name }) => name)).toEqual(["Legal"]);
      await made("/api/member", { groupId: manual, userId: first.user.id });
      provider.people.set("bea", { email: "bea@casa.es", email_verified: true, groups: "casa-ventas" });
      const second = await session((await comeIn("bea", ruled)).text);
      expect(second.user.role).toBe("user");
      expect(second.groups.map(({ name }) => name)).toEqual(["A mano", "Ventas"]);
      expect(legal).toBeTruthy();
    });

    it("asks for confirmation before a new provider address drops sign-ins", async () => {
      const moving = await addAccess(provider, { name: "la que se muda" });
      provider.people.set("eva", { email: "eva@casa.es", email_verified: true });
      const { text: token } = await comeIn("eva", moving);
      const key = (await api.call("POST", "/api/key", { token, json: { name: "Un guion", scope: "read" } })).body as {
        token: string;
      };
      const before = (await api.call("GET", `/api/access/${moving}`, { token: admin.token })).body as Record<
        string,
        unknown
      >;
      const { id: _id, createdAt: _made, updatedAt: _changed, hasSecret: _has, ...fields } = before;
      const change = (more: object) =>
        api.call("PUT", `/api/access/${moving}`, {
          token: admin.token,
          json: { ...fields, address: "https://otra.example", secret: "otro", ...more },
        });
      const refused = await change({});
      expect([refused.status, detail(refused)]).toEqual([
        422,
        expect.stringContaining("Una persona entra por este acceso"),
      ]);
      expect((await api.call("GET", "/auth/person", { token })).status).toBe(200);
      // A change that keeps the address needs no confirmation.
      expect((await change({ address: fields.address, name: "Otro nombre" })).status).toBe(200);
      expect((await change({ dropsPeople: true })).status).toBe(200);
      expect((await api.call("GET", "/auth/person", { token })).status).toBe(401);
      // Her new provider has another name for her, and vouches for her address: the account has no other way in.
      expect((await change({ address: fields.address, secret: provider.clientSecret })).status).toBe(200);
      provider.people.set("eva-nueva", { email: "eva@casa.es", email_verified: true });
      expect((await api.call("GET", "/api/chat", { token: key.token })).status).toBe(200);
      expect((await session((await comeIn("eva-nueva", moving)).text)).user.email).toBe("eva@casa.es");
      // Somebody else may have given that account her address: nothing of theirs opens it any more.
      expect((await api.call("GET", "/api/chat", { token: key.token })).status).toBe(401);
      provider.people.set("eva-falsa", { email: "eva@casa.es", email_verified: true });
      expect(detail(await comeIn("eva-falsa", moving))).toContain("entra de otra manera");
    });

    it("reads 5,000 groups and keeps those that exist here", async () => {
      await made("/api/group", { name: "Última", claim: "grupo-4999" });
      const groups = Array.from({ length: 5_000 }, (_, n) => `grupo-${n}`);
      provider.people.set("muchas", { email: "muchas@casa.es", email_verified: true, groups });
      const { groups: mine } = await session((await comeIn("muchas")).text);
      expect(mine.map(({ name }) => name)).toEqual(["Última"]);
    });

    it("joins an account with the same address only after password", async () => {
      const carla = await api.signUp("Carla");
      provider.people.set("carla", { email: carla.email.toUpperCase(), email_verified: true, name: "Carla" });
      const answer = await comeIn("carla");
      expect(answer.status).toBe(202);
      const { ticket } = answer.body as { ticket: string };
      const join = (json: object, id = accessId) => api.call("POST", `/auth/oidc/${id}/join`, { json });
      expect((await join({ ticket, password: "otra cosa" })).status).toBe(422);
      expect((await join({ ticket: `${ticket.slice(0, -4)}AAAA`, password })).status).toBe(401);
      const another = await addAccess(other, { name: "la otra" });
      expect((await join({ ticket, password }, another)).status).toBe(401);
      const joined = await join({ ticket, password });
      expect((await session(joined.text)).user.id).toBe(carla.id);
      expect((await session((await comeIn("carla")).text)).user.id).toBe(carla.id);
    });

    it("links a SCIM account to the first sign-in by address", async () => {
      api.services.config.scimToken = "s".repeat(32);
      const json = { userName: "elena@casa.es", displayName: "Elena" };
      const kept = await api.call("POST", "/scim/v2/Users", { token: "s".repeat(32), json });
      const { id } = JSON.parse(kept.text) as { id: string };
      provider.people.set("elena", { email: "elena@casa.es", email_verified: true, name: "Elena" });
      expect((await session((await comeIn("elena")).text)).user.id).toBe(id);
      expect((await session((await comeIn("elena")).text)).user.id).toBe(id);
      provider.people.set("otra-elena", { email: "elena@casa.es", email_verified: true });
      expect(detail(await comeIn("otra-elena"))).toContain("entra de otra manera");
      // One that somebody has come into otherwise is not given away, whatever the provider says of it later.
      const fede = { userName: "fede@casa.es" };
      const made = JSON.parse((await api.call("POST", "/scim/v2/Users", { token: "s".repeat(32), json: fede })).text);
      await api.db
        .updateTable("users")
        .set({ lastSeenAt: 1 })
        .where("id", "=", (made as { id: string }).id)
        .execute();
      provider.people.set("fede", { email: "fede@casa.es", email_verified: true });
      expect(detail(await comeIn("fede"))).toContain("entra de otra manera");
      provider.people.set("sin-comprobar", { email: "elena@casa.es", email_verified: false });
      expect((await comeIn("sin-comprobar")).status).toBe(403);
    });

    it("refuses an unverified, missing or already taken address", async () => {
      const dora = await api.signUp("Dora");
      const cases: [object, RegExp][] = [
        [{ email: dora.email, email_verified: false }, /dice que no se ha comprobado que el correo .* sea tuyo/],
        [{ email: dora.email }, /no confirma que el correo .* sea tuyo/],
        [{ name: "Sin correo" }, /no dice tu correo/],
        [{ email: "ana@casa.es", email_verified: true }, /que entra de otra manera/],
      ];
      for (const [n, [claims, sentence]] of cases.entries()) {
        provider.people.set(`caso-${n}`, claims as Record<string, unknown>);
        const answer = await comeIn(`caso-${n}`);
        expect([answer.status, detail(answer)]).toEqual([403, expect.stringMatching(sentence)]);
      }
    });

    it("refuses new people without account creation or outside allowed domains", async () => {
      provider.people.set("nueva", { email: "nueva@fuera.es", email_verified: true });
      const closed = await addAccess(provider, { name: "cerrada", makesAccounts: false });
      expect(detail(await comeIn("nueva", closed))).toMatch(/^No hay ninguna cuenta con el correo nueva@fuera\.es/);
      const only = await addAccess(provider, { name: "de casa", domains: "casa.es, nuestra.es" });
      expect(detail(await comeIn("nueva", only))).toBe(
        "Con «de casa» solo entra quien tiene un correo de casa.es, nuestra.es.",
      );
    });

    it("accepts a code once, with its own state and nonce", async () => {
      provider.people.set("elsa", { email: "elsa@casa.es", email_verified: true });
      const begun = await begin();
      const back = await signInThere(begun.url, redirect, "elsa");
      const stranger = await begin();
      for (const wrong of [
        { ...begun, state: stranger.state },
        { ...begun, nonce: stranger.nonce },
        // Somebody else's code, put into one's own browser.
        { ...stranger, state: begun.state },
      ]) {
        const answer = await end(wrong, back);
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(detail(answer)).toMatch(/^(Lo que ha contestado «la casa» no es de fiar|Esta entrada ya se ha usado)/);
      }
      const right = await begin();
      const once = await signInThere(right.url, redirect, "elsa");
      expect((await end(right, once)).status).toBe(200);
      const twice = await end(right, once);
      expect([twice.status, detail(twice)]).toEqual([
        422,
        "Esta entrada ya se ha usado o ha caducado. Empieza otra vez.",
      ]);
    });

    it("the answer of one issuer is not taken for another's", async () => {
      other.people.set("elsa", { email: "elsa@casa.es", email_verified: true });
      const otherId = await addAccess(other, { name: "la otra" });
      const begun = await begin(otherId);
      const back = await signInThere(begun.url, redirect, "elsa");
      const mixed = await end(begun, back, accessId);
      expect(mixed.status).toBe(502);
      expect(detail(mixed)).toMatch(/no es de fiar/);
    });

    it("reports a cancelled sign-in and an unreachable provider", async () => {
      const begun = await begin();
      const denied = new URL(redirect);
      denied.search = new URLSearchParams({
        error: "access_denied",
        state: begun.state,
        iss: provider.issuer,
      }).toString();
      expect(detail(await end(begun, denied))).toBe("«la casa» no te ha dejado entrar, o lo has cancelado.");
      const gone = await addAccess(
        { issuer: "http://127.0.0.1:9", clientId: "x", clientSecret: "y" },
        { name: "ninguna" },
      );
      const answer = await api.call("POST", `/auth/oidc/${gone}`, { json: { redirect } });
      expect([answer.status, detail(answer)]).toEqual([
        504,
        "«ninguna» no contesta ahora mismo. Vuelve a intentarlo en un momento.",
      ]);
    });

    it("hides the secret of an access and names invalid fields", async () => {
      expect((await api.call("GET", `/api/access/${accessId}`, { token: admin.token })).text).not.toContain(
        "secreto que",
      );
      const stored = await api.db
        .selectFrom("accesses")
        .where("id", "=", accessId)
        .select("secret")
        .executeTakeFirstOrThrow();
      expect(stored.secret).not.toContain("secreto que");
      const { issuer } = provider;
      const cases: [object, string, RegExp][] = [
        [{ address: "http://id.ejemplo.es" }, "address", /cifrada/],
        [{ address: "https://169.254.169.254" }, "address", /propia red/],
        [{ scopes: "email" }, "scopes", /openid/],
        [{ clientId: "" }, "clientId", /Falta/],
        [{ kind: "ldap", address: "ldaps://d.ejemplo.es" }, "searchBase", /Falta/],
      ];
      for (const [json, field, sentence] of cases) {
        const answer = await api.call("POST", "/api/access", {
          token: admin.token,
          json: { name: "Mal", kind: "oidc", address: issuer, clientId: "x", ...json },
        });
        expect(answer.status).toBe(422);
        expect((answer.body as { errors: Record<string, string> }).errors[field]).toMatch(sentence);
      }
    });

    it("signs in once with a host's link, never resets passwords", async () => {
      const eva = await api.signUp("Eva");
      const link = (opens: 0 | 1, token: string) =>
        api.db
          .insertInto("passwordResets")
          .values({
            id: token,
            createdAt: 1,
            updatedAt: 1,
            userId: eva.id,
            tokenHash: hashToken(token),
            expiresAt: Date.now() + 60_000,
            opens,
          })
          .onConflict((conflict) => conflict.column("userId").doUpdateSet({ tokenHash: hashToken(token), opens }))
          .execute();
      const open = (token: string) => api.call("POST", "/auth/link", { json: { token } });
      await link(0, "de-clave");
      expect((await open("de-clave")).status).toBe(422);
      await link(1, "de-entrar");
      const reset = await api.call("PUT", "/auth/reset/de-entrar", { json: { password: "otra frase bien larga" } });
      expect(reset.status).toBe(422);
      const opened = await open("de-entrar");
      expect((await session(opened.text)).user.id).toBe(eva.id);
      expect((await open("de-entrar")).status).toBe(422);
    });

    it("refuses password sign-in, sign-up and reset when passwords are off", async () => {
      const closed = await openApi(engine, { passwordSignin: false });
      const signup = await closed.call("POST", "/auth/signup", { json: { name: "Eva", email: "eva@x.es", password } });
      expect([signup.status, detail(signup)]).toEqual([
        403,
        "Aquí no se entra con contraseña: entra con tu organización.",
      ]);
      expect((await closed.call("POST", "/auth/signin", { json: { email: "eva@x.es", password } })).status).toBe(403);
      expect((await closed.call("GET", "/auth/options")).body).toMatchObject({
        signup: false,
        reset: false,
        password: false,
      });
      await closed.close();
    });

    describe("a provider that lies", () => {
      let liar: Server;
      let issuer: string;
      let keys: CryptoKeyPair;
      let foreign: CryptoKeyPair;
      /** The next answer: the claims of its token and how it is signed. */
      let token: (claims: Record<string, unknown>) => Promise<string>;
      let said: Record<string, unknown> = {};
      let accessToken = "x";
      beforeAll(async () => {
        [keys, foreign] = await Promise.all([generateKeyPair("RS256"), generateKeyPair("RS256")]);
        const jwk = { ...(await exportJWK(keys.publicKey)), kid: "uno", alg: "RS256", use: "sig" };
        liar = createServer(async (request, response) => {
          const path = request.url ?? "";
          const json = (body: unknown) =>
            response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
          if (path.endsWith("openid-configuration")) {
            return json({
              issuer,
              authorization_endpoint: `${issuer}/auth`,
              token_endpoint: `${issuer}/token`,
              jwks_uri: `${issuer}/jwks`,
              response_types_supported: ["code"],
              subject_types_supported: ["public"],
              id_token_signing_alg_values_supported: ["RS256"],
              ...said,
            });
          }
          if (path === "/jwks") return json({ keys: [jwk] });
          if (path === "/userinfo") return void response.writeHead(403).end();
          const id_token = await token({});
          return json({ access_token: accessToken, token_type: "Bearer", id_token });
        });
        liar.listen(0, "127.0.0.1");
        await once(liar, "listening");
        issuer = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`;
      });
      afterAll(() => liar.close());

      // More attempts than a network has in a quarter of an hour.
      beforeEach(async () => {
        await forgetAttempts(api.services, "signinAddress", "127.0.0.1");
      });
      const claimsFor = (nonce: string, more: object = {}) => ({
        iss: issuer,
        aud: "tertulia",
        sub: "victima",
        nonce,
        email: "v@casa.es",
        email_verified: true,
        iat: Math.floor(Date.now() / 1000),
        exp: Math.floor(Date.now() / 1000) + 60,
        ...more,
      });
      const signed = (claims: Record<string, unknown>, pair = keys) =>
        new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "uno" }).sign(pair.privateKey);
      const addLiar = (more: object = {}) =>
        addAccess({ issuer, clientId: "tertulia", clientSecret: "x" }, { name: "mentirosa", ...more });
      const tryWith = async (make: (nonce: string) => Promise<string>, at?: string) => {
        const id = at ?? (await addLiar());
        const begun = await begin(id);
        token = () => make(begun.nonce);
        const back = new URL(redirect);
        back.search = new URLSearchParams({ code: "c", state: begun.state }).toString();
        return end(begun, back, id);
      };

      it("accepts a valid token, the baseline for the refused cases", async () => {
        expect((await tryWith((nonce) => signed(claimsFor(nonce)))).status).toBe(200);
      });

      it.each<[string, (nonce: string) => Promise<string>]>([
        ["unsigned", async (nonce) => new UnsecuredJWT(claimsFor(nonce)).encode()],
        ["signed by another key", (nonce) => signed(claimsFor(nonce), foreign)],
        [
          "signed with the client's secret",
          (nonce) =>
            new SignJWT(claimsFor(nonce))
              .setProtectedHeader({ alg: "HS256" })
              .sign(createHash("sha256").update("x").digest()),
        ],
        ["for another client", (nonce) => signed(claimsFor(nonce, { aud: "otra" }))],
        ["of another issuer", (nonce) => signed(claimsFor(nonce, { iss: "https://otra.es" }))],
        ["that has expired", (nonce) => signed(claimsFor(nonce, { exp: Math.floor(Date.now() / 1000) - 600 }))],
        ["with another nonce", () => signed(claimsFor("otro"))],
        ["of nobody", (nonce) => signed(claimsFor(nonce, { sub: "a\0b" }))],
        ["without a subject", (nonce) => signed(claimsFor(nonce, { sub: undefined }))],
      ])("a token that is %s is refused", async (_name, make) => {
        const answer = await tryWith(make);
        expect([answer.status, detail(answer)]).toEqual([
          502,
          expect.stringMatching(/^Lo que ha contestado «mentirosa» no es de fiar/),
        ]);
      });

      it("ignores malformed claims and still signs the person in", async () => {
        const strange = {
          groups: [["legal"], { a: 1 }, null, 7, "a\0b", "x".repeat(300_000)],
          name: { a: 1 },
          sid: "a\0b",
        };
        const more = { ...strange, sub: "rara", email: "rara@casa.es", given_name: "Ra\0ra", family_name: 7 };
        const answer = await tryWith((nonce) => signed(claimsFor(nonce, more)));
        expect((await session(answer.text)).user.name).toBe("rara");
      });

      it("metadata of another issuer are refused", async () => {
        said = { issuer: "https://otra.es" };
        const id = await addAccess({ issuer, clientId: "tertulia", clientSecret: "z" }, { name: "otra cara" });
        const answer = await api.call("POST", `/auth/oidc/${id}`, { json: { redirect } });
        said = {};
        expect([answer.status, detail(answer)]).toEqual([502, expect.stringMatching(/no es de fiar/)]);
      });

      it("ends a session only after a valid logout notice", async () => {
        const answer = await tryWith((nonce) =>
          signed(claimsFor(nonce, { sid: "s-1", sub: "otra", email: "w@casa.es" })),
        );
        const { text: access } = answer;
        const event = { "http://schemas.openid.net/event/backchannel-logout": {} };
        const now = Math.floor(Date.now() / 1000);
        const good = { iss: issuer, aud: "tertulia", sid: "s-1", iat: now, jti: "uno", events: event };
        const tell = async (logout: string | Promise<string>) =>
          (
            await api.call("POST", "/auth/oidc/backchannel", {
              json: new URLSearchParams({ logout_token: await logout }).toString(),
              headers: { "Content-Type": "application/x-www-form-urlencoded" },
            })
          ).status;
        const bad = [
          new UnsecuredJWT(good).encode(),
          signed(good, foreign),
          signed({ ...good, events: {} }),
          signed({ ...good, nonce: "x" }),
          signed({ ...good, iat: now - 3600 }),
          signed({ ...good, aud: "otra" }),
          signed({ ...good, sid: undefined }),
          "nada",
        ];
        for (const one of bad) expect(await tell(one)).toBe(400);
        expect((await api.call("GET", "/auth/session", { token: access })).status).toBe(200);
        expect(await tell(signed(good))).toBe(200);
        expect((await api.call("GET", "/auth/session", { token: access })).status).toBe(401);
      });

      it("keeps role and groups when they are too many for the token", async () => {
        const id = await addLiar({ adminGroup: "jefes" });
        const comesIn = async (more: object) => {
          const { text } = await tryWith(
            (nonce) => signed(claimsFor(nonce, { sub: "jefa", email: "jefa@casa.es", ...more })),
            id,
          );
          return (await session(text)).user.role;
        };
        expect(await comesIn({ groups: ["jefes"] })).toBe("admin");
        expect(await comesIn({ _claim_names: { groups: "src1" }, _claim_sources: { src1: {} } })).toBe("admin");
        expect(await comesIn({ hasgroups: true })).toBe("admin");
        expect(await comesIn({ groups: ["JEFES"] })).toBe("user");
        expect(await comesIn({ groups: ["jefes"] })).toBe("admin");
        expect(await comesIn({ groups: [] })).toBe("user");
      });

      it("lets somebody in whose userinfo fails, as long as the token has the address", async () => {
        said = { userinfo_endpoint: `${issuer}/userinfo` };
        const id = await addLiar();
        const whole = await tryWith((nonce) => signed(claimsFor(nonce, { sub: "uno", email: "uno@casa.es" })), id);
        const without = await tryWith((nonce) => signed(claimsFor(nonce, { sub: "dos", email: undefined })), id);
        said = {};
        expect([whole.status, without.status]).toEqual([200, 502]);
      });

      it("takes an issuer with another last slash, or the address of its metadata", async () => {
        for (const address of [`${issuer}/`, `${issuer}/.well-known/openid-configuration`]) {
          const sub = crypto.randomUUID();
          const claims = { sub, sid: sub, email: `${sub}@casa.es` };
          const answer = await tryWith((nonce) => signed(claimsFor(nonce, claims)), await addLiar({ address }));
          expect(answer.status).toBe(200);
          const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
          const now = Math.floor(Date.now() / 1000);
          const logout = await signed({ iss: issuer, aud: "tertulia", sid: sub, iat: now, jti: sub, events });
          const told = await api.call("POST", "/auth/oidc/backchannel", {
            json: new URLSearchParams({ logout_token: logout }).toString(),
            headers: { "Content-Type": "application/x-www-form-urlencoded" },
          });
          expect(told.status).toBe(200);
          expect((await api.call("GET", "/auth/session", { token: answer.text })).status).toBe(401);
        }
      });

      describe("Entra", () => {
        const entra = "https://login.microsoftonline.com";
        /** What comes of it while this provider answers at Entra's address, with an issuer of that name. */
        const atEntra = <Result>(name: string, work: () => Promise<Result>) => atHost(entra, `${name}/v2.0`, work);
        async function atHost<Result>(host: string, path: string, work: () => Promise<Result>): Promise<Result> {
          const real = globalThis.fetch;
          vi.spyOn(globalThis, "fetch").mockImplementation((url, options) =>
            real(String(url).replace(host, issuer), options),
          );
          said = {
            issuer: `${host}/${path}`,
            ...{ authorization_endpoint: `${host}/auth`, token_endpoint: `${host}/token`, jwks_uri: `${host}/jwks` },
          };
          const result = await work();
          said = {};
          vi.restoreAllMocks();
          return result;
        }

        it("trusts an address of the common issuer only where Entra has verified its domain", async () => {
          const statuses = await atEntra("{tenantid}", async () => {
            const id = await addLiar({ address: `${entra}/organizations/v2.0` });
            const comesIn = async (more: object) => {
              const claims = { iss: `${entra}/casa/v2.0`, tid: "casa", email: "v@entra.es", ...more };
              return (await tryWith((nonce) => signed(claimsFor(nonce, claims)), id)).status;
            };
            return [await comesIn({ sub: "e-1" }), await comesIn({ sub: "e-2", xms_edov: true })];
          });
          expect(statuses).toEqual([403, 200]);
        });

        it("gives the name at sign-in for the address, where the house trusts its addresses", async () => {
          const withoutMailbox = { email: undefined, preferred_username: "upn@entra.es", sub: "upn-1" };
          const statuses = await atEntra("casa", async () => {
            const comesIn = async (trustsEmail: boolean) => {
              const id = await addLiar({ address: `${entra}/casa/v2.0`, trustsEmail });
              const claims = { ...withoutMailbox, iss: `${entra}/casa/v2.0` };
              return (await tryWith((nonce) => signed(claimsFor(nonce, claims)), id)).status;
            };
            return [await comesIn(false), await comesIn(true)];
          });
          expect(statuses).toEqual([403, 200]);
          const elsewhere = await addLiar({ trustsEmail: true });
          const answer = await tryWith((nonce) => signed(claimsFor(nonce, withoutMailbox)), elsewhere);
          expect([answer.status, detail(answer)]).toEqual([403, expect.stringContaining("no dice tu correo")]);
        });

        it("gives the name at sign-in of AD FS for the address, where the house trusts its addresses", async () => {
          const claims = { email: undefined, upn: "adfs@casa.es", sub: "adfs-1" };
          const host = "https://adfs.casa.example";
          const statuses = await atHost(host, "adfs", async () => {
            const comesIn = async (trustsEmail: boolean, more: object = {}) => {
              const id = await addLiar({ address: `${host}/adfs`, trustsEmail });
              const all = { ...claims, iss: `${host}/adfs`, ...more };
              return (await tryWith((nonce) => signed(claimsFor(nonce, all)), id)).status;
            };
            const unverified = { sub: "adfs-2", email_verified: false };
            return [await comesIn(false), await comesIn(true), await comesIn(true, unverified)];
          });
          expect(statuses).toEqual([403, 200, 403]);
          // Elsewhere people may choose that name.
          const elsewhere = await addLiar({ trustsEmail: true });
          expect((await tryWith((nonce) => signed(claimsFor(nonce, claims)), elsewhere)).status).toBe(403);
        });
      });

      it("reads groups that only the access token of the same person has", async () => {
        await made("/api/group", { name: "Del token", claim: "rol-del-token" });
        const id = await addLiar({ groupsClaim: "realm_access.roles" });
        const groupsWith = async (sub: string) => {
          const own = { realm_access: { roles: ["rol-del-token"] }, iss: claimsFor("").iss, sub };
          accessToken = await signed(own);
          const { text } = await tryWith(
            (nonce) => signed(claimsFor(nonce, { sub: "con-rol", email: "rol@casa.es" })),
            id,
          );
          accessToken = "x";
          return (await session(text)).groups.map(({ name }) => name);
        };
        expect(await groupsWith("con-rol")).toEqual(["Del token"]);
        expect(await groupsWith("otra-persona")).toEqual([]);
      });

      it("says that a provider signs with the secret alone", async () => {
        said = { id_token_signing_alg_values_supported: ["HS256"] };
        const answer = await api.call("POST", `/auth/oidc/${await addLiar()}`, { json: { redirect } });
        said = {};
        expect([answer.status, detail(answer)]).toEqual([502, expect.stringContaining("firma con HS256")]);
      });

      it("leaves a token of many groups out of the address for leaving", async () => {
        said = { end_session_endpoint: `${issuer}/salir` };
        const id = await addLiar();
        const hints = [];
        for (const groups of [["uno"], Array.from({ length: 60 }, () => crypto.randomUUID())]) {
          const { text } = await tryWith(
            (nonce) => signed(claimsFor(nonce, { sub: "muchos", email: "muchos@casa.es", groups })),
            id,
          );
          const left = await api.call("POST", "/auth/signout", { token: text, json: {} });
          hints.push(left.text.includes("id_token_hint"));
        }
        said = {};
        expect(hints).toEqual([true, false]);
      });
    });
  });
}
