import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";

type Body = Record<string, unknown> & { id: string };
const token = "un token de SCIM de más de treinta y dos letras".replaceAll(" ", "-");
const core = "urn:ietf:params:scim:schemas:core:2.0";
const patchOp = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

// Requests as the documentation of Microsoft Entra and of Okta has them.
const fromEntra = {
  schemas: [`${core}:User`, "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"],
  externalId: "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef",
  userName: "Ana.Lopez",
  active: true,
  emails: [{ primary: true, type: "work", value: "ana.lopez@ayto.example" }],
  meta: { resourceType: "User" },
  name: { formatted: "Ana López", familyName: "López", givenName: "Ana" },
  roles: [],
};
const fromOkta = {
  schemas: [`${core}:User`],
  userName: "berta.ruiz@ayto.example",
  name: { givenName: "Berta", familyName: "Ruiz" },
  emails: [{ primary: true, value: "berta.ruiz@ayto.example", type: "work" }],
  displayName: "Berta Ruiz",
  locale: "es-ES",
  externalId: "00ujl29u0le5T6Aj10h7",
  groups: [],
  password: "1mz050nq",
  active: true,
};

for (const engine of await ruleEngines()) {
  describe(`a provider of identities (SCIM), on ${engine.name}`, () => {
    let api: Api;
    let admin: Account;
    beforeAll(async () => {
      api = await openApi(engine);
      api.services.config.scimToken = token;
      admin = await api.signUp("Admin");
    });
    afterAll(() => api.close());

    const headers = { "Content-Type": "application/scim+json" };
    const ask = async (method: string, path: string, json?: unknown, using = token) => {
      const answer = await api.call(method, `/scim/v2${path}`, {
        token: using,
        headers,
        ...(json !== undefined && { json }),
      });
      const body = (answer.text ? JSON.parse(answer.text) : {}) as Body;
      return { status: answer.status, type: answer.headers.get("Content-Type"), body };
    };
    const patch = (path: string, ...Operations: object[]) => ask("PATCH", path, { schemas: [patchOp], Operations });
    const find = (path: string, filter: string) => ask("GET", `${path}?filter=${encodeURIComponent(filter)}`);
    let ana: Body;
    let berta: Body;

    it("refuses wrong tokens and answers 404 when not configured", async () => {
      for (const wrong of ["", "otro", admin.token]) {
        const refused = await ask("GET", "/Users", undefined, wrong);
        expect([refused.status, refused.type]).toEqual([401, "application/scim+json"]);
        expect(refused.body.schemas).toEqual(["urn:ietf:params:scim:api:messages:2.0:Error"]);
      }
      delete api.services.config.scimToken;
      expect((await ask("GET", "/Users")).status).toBe(404);
      api.services.config.scimToken = token;
    });

    it("finds nobody, then makes an account, as Entra does", async () => {
      const none = await find("/Users", 'userName eq "no-hay-nadie"');
      expect(none.body).toMatchObject({ totalResults: 0, Resources: [], startIndex: 1, itemsPerPage: 0 });
      const made = await ask("POST", "/Users", fromEntra);
      expect(made.status, JSON.stringify(made.body)).toBe(201);
      ana = made.body;
      expect(ana).toMatchObject({
        userName: "Ana.Lopez",
        externalId: fromEntra.externalId,
        displayName: "Ana López",
        active: true,
        emails: [{ value: "ana.lopez@ayto.example", primary: true }],
        meta: { resourceType: "User", location: `https://tertulia.example/v1/scim/v2/Users/${ana.id}` },
      });
      for (const filter of [
        'userName eq "ANA.lopez"',
        `externalId eq "${fromEntra.externalId}"`,
        'emails[type eq "work"].value eq "ana.lopez@ayto.example"',
        `id eq "${ana.id}" and active eq true`,
      ]) {
        expect((await find("/Users", filter)).body, filter).toMatchObject({
          totalResults: 1,
          Resources: [{ id: ana.id }],
        });
      }
      const again = await ask("POST", "/Users", fromEntra);
      expect([again.status, again.body.scimType]).toEqual([409, "uniqueness"]);
    });

    it("creates an account as Okta does, without a usable password", async () => {
      const made = await ask("POST", "/Users", fromOkta);
      expect(made.status).toBe(201);
      berta = made.body;
      const json = { email: fromOkta.emails[0]?.value, password: fromOkta.password };
      expect((await api.call("POST", "/auth/signin", { json })).status).toBe(401);
      const page = await ask("GET", "/Users?startIndex=2&count=1");
      expect(page.body).toMatchObject({ totalResults: 3, startIndex: 2, itemsPerPage: 1 });
    });

    it("changes an account by pieces, as Entra does", async () => {
      const changed = await patch(
        `/Users/${ana.id}`,
        { op: "Replace", path: 'emails[type eq "work"].value', value: "ana@ayto.example" },
        { op: "Add", path: "urn:ietf:params:scim:schemas:core:2.0:User:displayName", value: "Ana L." },
        {
          op: "Replace",
          path: "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department",
          value: "Padrón",
        },
        { op: "Replace", path: "name.familyName", value: "López" },
      );
      expect(changed.status).toBe(200);
      expect(changed.body).toMatchObject({
        displayName: "Ana L.",
        emails: [{ value: "ana@ayto.example" }],
        userName: "Ana.Lopez",
      });
    });

    it("deactivates and reactivates an account in both patch formats", async () => {
      const session = { userId: berta.id, userAgent: "", ip: "127.0.0.1" };
      const { openSession } = await import("../../app/api/auth/session-tokens.server.ts");
      const { access } = await openSession(api.services, session);
      const closed = await patch(`/Users/${berta.id}`, { op: "replace", value: { active: false } });
      expect(closed.body.active).toBe(false);
      expect((await api.call("GET", "/auth/session", { token: access })).status).toBe(401);
      expect((await patch(`/Users/${berta.id}`, { op: "Replace", path: "active", value: "True" })).body.active).toBe(
        true,
      );
      const audit = await api.call("GET", `/api/audit?filter=${encodeURIComponent('{"resource":"user"}')}`, {
        token: admin.token,
      });
      expect(audit.text).toContain(berta.id);
    });

    it("replaces an account whole", async () => {
      const changed = await ask("PUT", `/Users/${berta.id}`, { ...fromOkta, displayName: "Berta R.", id: berta.id });
      expect(changed.body).toMatchObject({ id: berta.id, displayName: "Berta R.", active: true });
    });

    it("keeps groups: made, filled, emptied, renamed, deleted", async () => {
      const made = await ask("POST", "/Groups", {
        schemas: [`${core}:Group`, "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"],
        externalId: "8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159",
        displayName: "Padrón",
        members: [],
        meta: { resourceType: "Group" },
      });
      expect(made.status).toBe(201);
      const path = `/Groups/${made.body.id}`;
      const members = async () =>
        (((await ask("GET", path)).body.members ?? []) as { value: string }[]).map(({ value }) => value);
      const add = (...ids: string[]) => ({
        op: "Add",
        path: "members",
        value: ids.map((value) => ({ $ref: null, value })),
      });
      expect((await patch(path, add(ana.id))).status).toBe(204);
      expect((await patch(path, add(berta.id, ana.id))).status).toBe(204);
      expect((await members()).sort()).toEqual([ana.id, berta.id].sort());
      expect((await ask("GET", `/Users/${ana.id}`)).body.groups).toEqual([{ value: made.body.id, display: "Padrón" }]);
      await patch(path, { op: "Remove", path: "members", value: [{ $ref: null, value: ana.id }] });
      expect(await members()).toEqual([berta.id]);
      await patch(path, { op: "remove", path: `members[value eq "${berta.id}"]` });
      expect(await members()).toEqual([]);
      await patch(path, { op: "replace", path: "members", value: [{ value: ana.id, display: "x" }] });
      expect(await members()).toEqual([ana.id]);
      const renamed = await patch(path, { op: "replace", value: { id: made.body.id, displayName: "Padrón y censo" } });
      expect(renamed).toMatchObject({ status: 204 });
      const found = await ask(
        "GET",
        `/Groups?excludedAttributes=members&filter=${encodeURIComponent('displayName eq "Padrón y censo"')}`,
      );
      expect(found.body).toMatchObject({ totalResults: 1 });
      expect(JSON.stringify(found.body)).not.toContain("members");
      const both = `displayName eq "Padrón and censo eq x" and externalId eq "8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159"`;
      expect((await find("/Groups", both)).body).toMatchObject({ totalResults: 0 });
      // Nothing but one member, by its id, is taken out by a path.
      for (const odd of [
        "[value eq 'x']",
        '[type eq "User"]',
        `[value eq "${ana.id}" or value eq "y"]`,
        '[value ne "x"]',
      ]) {
        expect((await patch(path, { op: "remove", path: `members${odd}` })).body.scimType).toBe("invalidFilter");
      }
      expect((await patch(path, { op: "replace", path: "members", value: [{ foo: 1 }] })).status).toBe(400);
      expect(await members()).toEqual([ana.id]);
      const wrong = await patch(path, add("01976e2f-4c1a-7b3d-9e5f-2a6b8c0d1e2f"));
      expect([wrong.status, wrong.body.scimType]).toEqual([400, "invalidValue"]);
      const mixed = [{ value: "01976e2f-4c1a-7b3d-9e5f-2a6b8c0d1e2f" }, { value: ana.id }];
      await patch(path, { op: "replace", path: "members", value: mixed });
      expect(await members()).toEqual([ana.id]);
      const nulled = await patch(path, { op: "replace", path: null, value: { displayName: "Ventas" } });
      expect(nulled.status).toBeLessThan(300);
      expect((await ask("PUT", path, { displayName: "Padrón", members: [] })).body).toMatchObject({ members: [] });
      expect((await ask("DELETE", path)).status).toBe(204);
      expect((await ask("GET", path)).status).toBe(404);
    });

    it("keeps an omitted state and work address", async () => {
      const { emails: _, active: __, ...short } = fromOkta;
      const kept = { emails: [{ value: fromOkta.userName, type: "work", primary: true }] };
      await patch(`/Users/${berta.id}`, { op: "replace", value: { active: false } });
      const put = await ask("PUT", `/Users/${berta.id}`, { ...short, userName: "bruiz@upn.example" });
      expect(put.body).toMatchObject({ ...kept, userName: "bruiz@upn.example", active: false });
      const home = { op: "add", path: 'emails[type eq "home"].value', value: "berta@casa.example" };
      expect((await patch(`/Users/${berta.id}`, home)).body).toMatchObject(kept);
      const more = { op: "add", path: "emails", value: [{ type: "home", value: "berta@casa.example" }] };
      expect((await patch(`/Users/${berta.id}`, more)).body).toMatchObject(kept);
      for (const active of [0, "no", null, { value: false }, [[["x"]]], { toString: 1 }]) {
        expect((await ask("PUT", `/Users/${berta.id}`, { ...fromOkta, active })).body.scimType).toBe("invalidValue");
      }
      expect((await patch(`/Users/${berta.id}`, { op: "replace", path: "active", value: true })).body.active).toBe(
        true,
      );
    });

    it("deactivates deleted accounts and hides them until created again", async () => {
      expect((await ask("DELETE", `/Users/${berta.id}`)).status).toBe(204);
      expect((await ask("GET", `/Users/${berta.id}`)).status).toBe(404);
      const row = await api.db.selectFrom("users").where("id", "=", berta.id).select("status").executeTakeFirst();
      expect(row?.status).toBe("inactive");
      expect((await ask("POST", "/Users", fromOkta)).body).toMatchObject({ id: berta.id, active: true });
    });

    it("leaves the administrator active and e-mails of password accounts unchanged", async () => {
      const last = await patch(`/Users/${admin.id}`, { op: "replace", value: { active: false } });
      expect(last.status).toBe(409);
      const moved = await patch(`/Users/${admin.id}`, {
        op: "replace",
        path: 'emails[type eq "work"].value',
        value: "x@otro.es",
      });
      expect([moved.status, moved.body.scimType]).toEqual([400, "mutability"]);
    });

    it.each([
      ["GET", "/Users?filter=userName%20co%20%22a%22", undefined, "invalidFilter"],
      ["GET", `/Users?filter=${"(".repeat(3000)}`, undefined, "invalidFilter"],
      ["POST", "/Users", "{", "invalidSyntax"],
      ["POST", "/Users", [], "invalidSyntax"],
      ["POST", "/Users", { userName: "sin correo" }, "invalidValue"],
      ["POST", "/Users", { userName: { a: 1 }, emails: 3 }, "invalidValue"],
      ["POST", "/Users", `{"userName":${"[".repeat(5_000)}${"]".repeat(5_000)}}`, "invalidSyntax"],
      ["PATCH", "/Users/x", { Operations: [{ op: "move" }] }, "invalidSyntax"],
      ["POST", "/Groups", { displayName: "x".repeat(500) }, "invalidValue"],
    ])("%s %s with %j is refused with a sentence", async (method, path, json, scimType) => {
      const answer = await ask(method, path, json);
      expect([answer.status, answer.body.scimType]).toEqual([400, scimType]);
      expect(answer.body.detail).toMatch(/^.+\.$/);
    });

    it("handles NUL in names and prototype paths safely", async () => {
      const made = await ask("POST", "/Users", { userName: "carla\u0000@ayto.example", externalId: "\u0000x" });
      expect(made.body).toMatchObject({ userName: "carla@ayto.example", externalId: "x" });
      await patch(`/Users/${made.body.id}`, { op: "remove", path: "externalId" });
      expect((await ask("GET", `/Users/${made.body.id}`)).body.externalId ?? null).toBeNull();
      const odd = await patch(
        `/Users/${made.body.id}`,
        { op: "add", path: "constructor", value: "x" },
        { op: "add", path: "__proto__", value: { a: 1 } },
      );
      expect(odd.status).toBe(200);
    });

    it("is answered to numbers and filters that nobody has", async () => {
      for (const query of [
        "startIndex=1e300",
        "startIndex=-5&count=-1",
        "count=1e99",
        'filter=userName%20eq%20"a\\u0000b"',
      ]) {
        expect((await ask("GET", `/Users?${query}`)).status, query).toBe(200);
      }
    });

    it("says what it can do", async () => {
      expect((await ask("GET", "/ServiceProviderConfig")).body).toMatchObject({ patch: { supported: true } });
      expect((await ask("GET", "/ResourceTypes")).body).toMatchObject({ totalResults: 2 });
      expect((await ask("GET", "/Schemas")).body).toMatchObject({ totalResults: 2 });
      expect((await ask("GET", "/ResourceTypes/Group")).body).toMatchObject({ endpoint: "/Groups" });
      const schema = await ask("GET", `/Schemas/${core}:User`);
      expect(schema.body).toMatchObject({
        id: `${core}:User`,
        attributes: [{ name: "userName" }, ...Array(4).fill({})],
      });
      for (const path of ["/Schemas/urn:x", "/Me", "/nada/de/esto"]) {
        const schemas = ["urn:ietf:params:scim:api:messages:2.0:Error"];
        expect(await ask("GET", path), path).toMatchObject({
          status: 404,
          type: "application/scim+json",
          body: { schemas },
        });
      }
    });

    it("finds a group by its name in other letters", async () => {
      const made = await ask("POST", "/Groups", { displayName: "Área de Agua" });
      const found = await find("/Groups", 'displayName eq "ÁREA DE agua"');
      expect(found.body).toMatchObject({ totalResults: 1, Resources: [{ id: made.body.id }] });
      await ask("DELETE", `/Groups/${made.body.id}`);
    });
  });
}

it("SCIM creates no account before an administrator exists", async () => {
  const [engine] = await ruleEngines();
  if (!engine) throw new Error("no engine");
  const api = await openApi(engine);
  api.services.config.scimToken = token;
  const made = await api.call("POST", "/scim/v2/Users", { token, json: fromOkta });
  expect([made.status, made.text]).toEqual([503, expect.stringContaining("entra antes en ella")]);
  await api.close();
});
