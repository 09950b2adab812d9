import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";

describe.each(await queryEngines())("people as they are on $name", (engine) => {
  let api: Api;
  let admin: Account;
  beforeAll(async () => {
    api = await openApi(engine);
    admin = await api.signUp("Admin");
    for (const [n, name] of ["Zoe", "ana", "Álvaro", "Óscar", "ñandú", "Beatriz"].entries()) {
      const json = { name, email: `persona-${n}@ejemplo.es`, password: "una frase larga y rara" };
      expect((await api.call("POST", "/api/user", { token: admin.token, json })).status).toBe(201);
    }
  });
  afterAll(() => api.close());

  const names = async (query: string) =>
    (
      (await api.call("GET", `/api/user?${query}`, { token: admin.token })).body as { items: { name: string }[] }
    ).items.map(({ name }) => name);

  it("are listed as in a dictionary, page after page", async () => {
    const sorted = ["Admin", "Álvaro", "ana", "Beatriz", "ñandú", "Óscar", "Zoe"];
    expect(await names('sort={"name":"asc"}')).toEqual(sorted);
    const seen: string[] = [];
    for (let cursor = ""; ; ) {
      const more: string = cursor && `&cursor=${cursor}`;
      const { body } = await api.call("GET", `/api/user?sort={"name":"asc"}&limit=2${more}`, { token: admin.token });
      const page = body as { items: { name: string }[]; nextCursor: string | null };
      seen.push(...page.items.map(({ name }) => name));
      if (!page.nextCursor) break;
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(sorted);
  });

  it.each([
    ["alvaro", "Álvaro"],
    ["OSCAR", "Óscar"],
    ["ñandú", "ñandú"],
  ])("are found by %s", async (q, name) => {
    expect(await names(`q=${encodeURIComponent(q)}`)).toEqual([name]);
  });

  it.each(["Dvořák", "Мой файл", "한국 여행", "Łódź", "Ångström", "cafe\u0301"])(
    "find their chat «%s» by its title",
    async (title) => {
      const [start] = await api.converse(admin.token, { content: "Hola" });
      const id = start?.type === "start" ? start.chatId : "";
      await api.call("PATCH", `/api/chat/${id}`, { token: admin.token, json: { title } });
      const { body } = await api.call("GET", `/api/search?q=${encodeURIComponent(title)}`, { token: admin.token });
      expect((body as { chats: { id: string }[] }).chats.map((chat) => chat.id)).toContain(id);
    },
  );

  it("keep an address that their organisation gave when they change their name", async () => {
    const inner = await api.signUp("Interna");
    await api.db
      .updateTable("users")
      .set({ email: "admin@intranet", emailKey: "admin@intranet" })
      .where("id", "=", inner.id)
      .execute();
    const put = (json: object, { token } = inner) => api.call("PATCH", `/api/user/${inner.id}`, { token, json });
    expect((await put({ name: "Otra", email: "admin@intranet" })).status).toBe(200);
    expect((await put({ name: "Más", email: "admin@intranet" }, admin)).status).toBe(200);
    expect((await put({ email: "otra@intranet", currentPassword: "x" })).text).toContain("no está completo");
  });

  it("may have an address with letters of Spanish in its domain", async () => {
    const json = { name: "Ana", email: "ana@español.es", password: "una frase larga y rara" };
    const made = await api.call("POST", "/api/user", { token: admin.token, json });
    expect(made.body).toMatchObject({ email: "ana@xn--espaol-zwa.es" });
    const entered = await api.call("POST", "/auth/signin", {
      json: { email: json.email, password: json.password },
    });
    expect(entered.status).toBe(200);
  });

  it("leave to another administrator what they made for everybody", async () => {
    const other = await api.signUp("Otra");
    await api.call("PATCH", `/api/user/${other.id}`, { token: admin.token, json: { role: "admin" } });
    const json = { title: "Acta", content: "Haz un acta", shared: true };
    const made = await api.call("POST", "/api/template", { token: other.token, json });
    expect(made.status).toBe(201);
    expect((await api.call("DELETE", `/api/user/${other.id}`, { token: admin.token })).status).toBe(204);
    const { id } = made.body as { id: string };
    expect((await api.call("GET", `/api/template/${id}`, { token: admin.token })).body).toMatchObject({
      userId: admin.id,
    });
  });
});
