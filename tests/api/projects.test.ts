import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";

describe.each(await queryEngines())("projects on $name", (engine) => {
  let api: Api;
  let admin: Account;
  let ana: Account;
  beforeAll(async () => {
    api = await openApi(engine);
    admin = await api.signUp("Admin");
    ana = await api.signUp();
  });
  afterAll(() => api.close());

  const make = async (json: object, { token } = ana) => api.call("POST", "/api/project", { token, json });
  const idOf = (answer: { body: never }) => (answer.body as { id: string }).id;

  it("are created with a name; errors name the field", async () => {
    expect((await make({ name: " Tesis\n doctoral " })).body).toMatchObject({
      name: "Tesis doctoral",
      description: "",
      instructions: "",
      userId: ana.id,
    });
    expect((await make({ name: "", instructions: "x".repeat(8001) })).body).toMatchObject({
      status: 422,
      errors: { name: "Falta el nombre.", instructions: expect.stringContaining("8000") },
    });
    expect((await make({ name: "X", userId: admin.id })).status).toBe(422);
  });

  it("are accessible to owner and administrators and hidden from others", async () => {
    const path = `/api/project/${idOf(await make({ name: "Mío" }))}`;
    const bea = await api.signUp("Bea");
    const json = { name: "Otro" };
    for (const [method, body] of [["GET"], ["PUT", json], ["DELETE"]] as const) {
      expect((await api.call(method, path, { token: bea.token, json: body })).status).toBe(404);
      expect((await api.call(method, path, { json: body })).status).toBe(401);
    }
    expect(((await api.call("GET", "/api/project", { token: bea.token })).body as { total: number }).total).toBe(0);
    expect((await api.call("PUT", path, { token: ana.token, json })).body).toMatchObject({ name: "Otro" });
    expect((await api.call("DELETE", path, { token: admin.token })).status).toBe(204);
    const trace = await api.db
      .selectFrom("audit")
      .where("resource", "=", "project")
      .select(["actorId", "action"])
      .execute();
    expect(trace).toEqual([{ actorId: admin.id, action: "delete" }]);
  });

  it("hold chats of the owner only and delete them too", async () => {
    const projectId = idOf(await make({ name: "Con chats", instructions: "Responde en verso." }));
    const [started] = await api.converse(ana.token, { projectId, content: "Hola" });
    if (started?.type !== "start") throw new Error("a conversation begins with its start");
    const chat = async () => api.call("GET", `/api/chat/${started.chatId}`, { token: ana.token });
    expect((await chat()).body).toMatchObject({ projectId });
    const move = (json: object) => api.call("PATCH", `/api/chat/${started.chatId}`, { token: ana.token, json });
    expect((await move({ projectId: null })).body).toMatchObject({ projectId: null });
    const foreign = idOf(await make({ name: "Ajeno" }, await api.signUp("Bea")));
    expect((await move({ projectId: foreign })).body).toMatchObject({
      status: 422,
      errors: { projectId: expect.anything() },
    });
    await move({ projectId });
    expect((await api.call("DELETE", `/api/project/${projectId}`, { token: ana.token })).status).toBe(204);
    expect((await chat()).status).toBe(404);
  });
});
