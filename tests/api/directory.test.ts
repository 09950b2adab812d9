import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { base, hasDirectory, searcher, startDirectory } from "../support/directory.ts";
import { sqlite } from "../support/engines.ts";
import { password } from "../support/password.ts";

describe.skipIf(!hasDirectory)("coming in by a directory", () => {
  let api: Api;
  let admin: Account;
  let directory: Awaited<ReturnType<typeof startDirectory>>;
  let accessId: string;
  beforeAll(async () => {
    [api, directory] = await Promise.all([openApi(sqlite), startDirectory()]);
    admin = await api.signUp("Admin");
    accessId = await addAccess({});
  });
  afterAll(async () => {
    await Promise.all([api.close(), directory.stop()]);
  });

  const made = async (path: string, json: object) => {
    const answer = await api.call("POST", path, { token: admin.token, json });
    if (answer.status !== 201) throw new Error(answer.text);
    return (answer.body as { id: string }).id;
  };
  const addAccess = (more: object) =>
    made("/api/access", {
      name: "el directorio",
      kind: "ldap",
      address: directory.url,
      clientId: searcher.dn,
      secret: searcher.password,
      searchBase: `ou=personas,${base}`,
      groupBase: `ou=grupos,${base}`,
      ...more,
    });
  const comeIn = (username: string, given: string, id = accessId) =>
    api.call("POST", `/auth/ldap/${id}`, { json: { username, password: given } });
  const detail = (answer: { body: never }) => (answer.body as { detail: string }).detail;

  it("signs in by username or address, with the directory's groups", async () => {
    await made("/api/group", { name: "Obras", claim: "Obra pública" });
    const answer = await comeIn("ana", "clave de ana");
    expect(answer.status).toBe(200);
    const session = (await api.call("GET", "/auth/session", { token: answer.text })).body as object;
    expect(session).toMatchObject({
      user: { name: "Ana Gil", email: "ana@ejemplo.es", hasPassword: false },
      groups: [{ name: "Obras" }],
    });
    expect((await comeIn("ana@ejemplo.es", "clave de ana")).status).toBe(200);
    const berta = await comeIn("berta", "clave de berta");
    expect((await api.call("GET", "/auth/session", { token: berta.text })).body).toMatchObject({ groups: [] });
  });

  it.each([
    ["ana", "otra"],
    ["nadie", "x"],
    // A filter in the name finds nobody: its signs are letters.
    ["*", "clave de ana"],
    ["ana)(uid=*", "clave de ana"],
    ["a*", "clave de ana"],
    ["ana\\", "clave de ana"],
  ])("«%s» with «%s» does not come in, and is not told why", async (username, given) => {
    const answer = await comeIn(username, given);
    expect([answer.status, detail(answer)]).toEqual([401, "El usuario o la contraseña no son correctos."]);
  });

  it("refuses an empty password before asking the directory", async () => {
    expect((await comeIn("ana", "")).status).toBe(422);
  });

  it("joins an account with that address by password", async () => {
    await api.db
      .updateTable("users")
      .set({ email: "berta@ejemplo.es", emailKey: "x" })
      .where("id", "=", admin.id)
      .execute();
    await api.db
      .updateTable("users")
      .set({ emailKey: "otra@ejemplo.es" })
      .where("emailKey", "=", "berta@ejemplo.es")
      .execute();
    await api.db.updateTable("users").set({ emailKey: "berta@ejemplo.es" }).where("id", "=", admin.id).execute();
    const second = await addAccess({ name: "otra vez" });
    const answer = await comeIn("berta", "clave de berta", second);
    expect(answer.status).toBe(202);
    const { ticket } = answer.body as { ticket: string };
    const joined = await api.call("POST", `/auth/oidc/${second}/join`, { json: { ticket, password } });
    expect(joined.status).toBe(200);
    expect(detail(await comeIn("sincorreo", "clave sin correo"))).toMatch(/no dice tu correo/);
  });

  it("reports a directory that is unreachable, refuses or hangs", async () => {
    const gone = await addAccess({ name: "ido", address: "ldap://127.0.0.1:9" });
    const refusing = await addAccess({ name: "cerrado", secret: "no es esta" });
    const silent = createServer(() => {});
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const hanging = await addAccess({
      name: "mudo",
      address: `ldap://127.0.0.1:${(silent.address() as AddressInfo).port}`,
    });
    const answers = await Promise.all([gone, refusing, hanging].map((id) => comeIn("ana", "clave de ana", id)));
    silent.close();
    const silence = (name: string) => `«${name}» no contesta ahora mismo. Vuelve a intentarlo en un momento.`;
    expect(answers.map((answer) => [answer.status, detail(answer)])).toEqual([
      [504, silence("ido")],
      [502, "«cerrado» no acepta a esta instalación. Avisa a quien administra."],
      [504, silence("mudo")],
    ]);
  });
});
