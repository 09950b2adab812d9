import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { sqlite } from "../support/engines.ts";
import { type Answers, type FakeEntry, startFakeDirectory } from "../support/fake-directory.ts";

const groups = ["Obras", "Obras, parques", "Gestión", "Dirección"];
const person = (number: number, more: FakeEntry["attributes"] = {}): FakeEntry => ({
  dn: `CN=Gil\\, Ana ${number},OU=Personas,DC=ad,DC=es`,
  attributes: {
    displayName: ["Ana Gil"],
    Mail: [` ana${number}@ad.es `],
    objectGUID: [Buffer.alloc(16, number)],
    ...more,
  },
});
const isOurs = (dn: string) => dn === "cn=buscador";

describe("a directory that answers in its own way", () => {
  let api: Api;
  let admin: Account;
  let numbered = 0;
  beforeAll(async () => {
    api = await openApi(sqlite);
    admin = await api.signUp("Admin");
    for (const claim of groups) await made("/api/group", { name: claim, claim });
  });
  afterAll(() => api.close());

  const made = async (path: string, json: object) => {
    const answer = await api.call("POST", path, { token: admin.token, json });
    if (answer.status !== 201) throw new Error(answer.text);
    return (answer.body as { id: string }).id;
  };
  const comeIn = async (answers: Answers, more: object = {}) => {
    const directory = await startFakeDirectory(answers);
    const access = {
      name: `d${numbered++}`,
      kind: "ldap",
      address: directory.url,
      clientId: "cn=buscador",
      secret: "s",
    };
    const id = await made("/api/access", { ...access, searchBase: "DC=ad,DC=es", ...more });
    const answer = await api.call("POST", `/auth/ldap/${id}`, { json: { username: "ana", password: "p" } });
    directory.stop();
    return answer;
  };
  const sessionOf = async ({ text: token }: { text: string }) =>
    (await api.call("GET", "/auth/session", { token })).body as {
      user: { email: string; role: string };
      groups: { name: string }[];
    };

  it.each([
    [1, "in another case", { memberOf: ["CN=obras,OU=G,DC=ad,DC=es"] }, ["Obras"]],
    [2, "with a comma as OpenLDAP writes it", { memberOf: ["cn=Obras\\2C parques,ou=g"] }, ["Obras, parques"]],
    [3, "with a comma as Active Directory writes it", { memberOf: ["CN=Obras\\, parques,OU=G"] }, ["Obras, parques"]],
    [4, "with escaped letters", { memberOf: ["CN=Gesti\\C3\\B3n,OU=G"] }, ["Gestión"]],
    [5, "in an attribute in lower case", { memberof: ["CN=DIRECCIÓN,OU=G"] }, ["Dirección"]],
  ])("%#. finds a group %s", async (number, _, attributes, names) => {
    const answer = await comeIn({ search: () => [person(number, attributes)] });
    expect((await sessionOf(answer)).groups.map(({ name }) => name)).toEqual(names);
  });

  it("finds groups within groups, and by each name of a person", async () => {
    const search = (base: string, request: string): FakeEntry[] => {
      if (!base.startsWith("OU=G")) return [person(6, { uid: ["ana", "agil"] })];
      if (request.includes("agil")) return [{ dn: "CN=Brigada,OU=G", attributes: {} }];
      return request.includes("CN=Brigada,OU=G") ? [{ dn: "CN=Obras,OU=G", attributes: {} }] : [];
    };
    const session = await sessionOf(await comeIn({ search }, { groupBase: "OU=G,DC=ad,DC=es", adminGroup: "brigada" }));
    expect(session).toMatchObject({ user: { email: "ana6@ad.es", role: "admin" }, groups: [{ name: "Obras" }] });
  });

  it.each([
    ["532", "Tu contraseña ha caducado"],
    ["773", "Tu contraseña ha caducado"],
    ["533", "Tu cuenta está desactivada"],
    ["701", "Tu cuenta está desactivada"],
    ["775", "Tu cuenta está bloqueada"],
    ["52e", "El usuario o la contraseña no son correctos."],
    ["525", "El usuario o la contraseña no son correctos."],
  ])("tells a person why Active Directory refuses them: %s", async (code, sentence) => {
    const message = `80090308: LdapErr: DSID-0C090447, comment: AcceptSecurityContext error, data ${code}, v3839`;
    const bind = (dn: string) => (isOurs(dn) ? { code: 0 } : { code: 49, message });
    const answer = await comeIn({ bind, search: () => [person(7)] });
    expect(answer).toMatchObject({ status: 401, body: { detail: expect.stringContaining(sentence) } });
  });

  it.each<[string, Answers, object]>([
    ["a base that does not exist", { search: () => 32 }, {}],
    ["a base that is no name", { search: () => 34 }, {}],
    ["a search without signing in", { search: () => 1 }, { clientId: "", secret: null }],
    ["a connection that has to be signed", { bind: () => ({ code: 8 }) }, {}],
    [
      "a group base that does not exist",
      { search: (base) => (base === "OU=no" ? 32 : [person(8)]) },
      { groupBase: "OU=no" },
    ],
  ])("tells %s from a passing fault", async (_, answers, more) => {
    const answer = await comeIn(answers, more);
    expect(answer).toMatchObject({
      status: 502,
      body: { detail: expect.stringContaining("no acepta a esta instalación") },
    });
  });

  it("moves to another server of the same directory with its people", async () => {
    const [first, second] = await Promise.all([1, 2].map(() => startFakeDirectory({ search: () => [person(9)] })));
    const place = { name: "dc", kind: "ldap", clientId: "cn=buscador", secret: "s", searchBase: "DC=ad,DC=es" };
    const id = await made("/api/access", { ...place, address: first?.url });
    const enters = () => api.call("POST", `/auth/ldap/${id}`, { json: { username: "ana", password: "p" } });
    expect((await enters()).status).toBe(200);
    const moved = { ...place, address: second?.url };
    const change = (json: object) => api.call("PUT", `/api/access/${id}`, { token: admin.token, json });
    expect(await change({ ...moved, secret: "" })).toMatchObject({
      status: 422,
      body: { errors: { secret: expect.any(String) } },
    });
    expect((await change(moved)).status).toBe(200);
    first?.stop();
    expect((await enters()).status).toBe(200);
    second?.stop();
  });

  it("refuses a filter whose brackets do not match", async () => {
    const access = { name: "filtro", kind: "ldap", address: "ldap://127.0.0.1:9", searchBase: "DC=ad" };
    const json = { ...access, userFilter: "(uid={usuario}" };
    const answer = await api.call("POST", "/api/access", { token: admin.token, json });
    expect(answer).toMatchObject({
      status: 422,
      body: { errors: { userFilter: expect.stringContaining("paréntesis") } },
    });
  });
});
