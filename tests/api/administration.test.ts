import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi, textOf } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";
import { startModelServer } from "../support/model-server.ts";
import { password } from "../support/password.ts";

type Item = { id: string; updatedAt: string };

for (const engine of await queryEngines()) {
  describe(`administration on ${engine.name}`, () => {
    let api: Api;
    let admin: Account;
    let ana: Account;
    let chatId: string;
    let messageId: string;
    beforeAll(async () => {
      api = await openApi(engine);
      admin = await api.signUp("Admin");
      ana = await api.signUp("Ana");
      const [start] = await api.converse(ana.token, { content: "Hola" });
      if (start?.type !== "start") throw new Error("no start");
      ({ chatId, messageId } = start);
      await api.inspect(admin.token, "chat", chatId);
    });
    afterAll(() => api.close());

    const call = (method: string, path: string, json?: object, { token } = admin, headers = {}) =>
      api.call(method, path, { token, json, headers });

    const resources = [
      [
        "training",
        "PATCH",
        () => ({ title: "Tono", kind: "instruction", content: "Sé breve." }),
        { content: "Sé muy breve." },
      ],
      [
        "summary",
        "PUT",
        () => ({ chatId, upToMessageId: messageId, content: "Se saludaron." }),
        { content: "Hubo un saludo." },
      ],
      [
        "subscription",
        "PUT",
        () => ({ userId: ana.id, plan: "pro", startsAt: "2026-01-01T00:00:00.000Z" }),
        { messagesPerDay: 5 },
      ],
      ["page", "PUT", () => ({ slug: "aviso-legal", title: "Aviso legal", body: "Texto" }), { published: true }],
    ] as const;

    it.each(resources)(
      "creates, reads, changes and deletes %s with audit entries",
      async (name, method, body, change) => {
        const made = await call("POST", `/api/${name}`, body());
        expect([made.status, made.body]).toEqual([201, expect.objectContaining(body())]);
        const { id, updatedAt } = made.body as Item;
        const read = await call("GET", `/api/${name}/${id}`);
        expect(read.body).toEqual(made.body);
        const changed = await call(
          method,
          `/api/${name}/${id}`,
          method === "PUT" ? { ...body(), ...change } : change,
          admin,
          {
            "If-Match": `"${updatedAt}"`,
          },
        );
        expect([changed.status, changed.body]).toEqual([200, expect.objectContaining({ ...body(), ...change })]);
        const stale = await call(method, `/api/${name}/${id}`, method === "PUT" ? body() : {}, admin, {
          "If-Match": '"2000-01-01T00:00:00.000Z"',
        });
        expect([stale.status, (stale.body as { current: object }).current]).toEqual([409, changed.body]);
        expect((await call("GET", `/api/${name}?limit=100`)).text).toContain(id);
        expect((await call("DELETE", `/api/${name}/${id}`)).status).toBe(204);
        expect((await call("GET", `/api/${name}/${id}`)).status).toBe(404);
        const trace = await api.db
          .selectFrom("audit")
          .where("resourceId", "=", id)
          .orderBy("id")
          .select("action")
          .execute();
        expect(trace.map(({ action }) => action)).toEqual(["create", "update", "delete"]);
      },
    );

    it.each(resources)("refuses %s to non-administrators, except reading their own", async (name, method, body) => {
      const { id } = (await call("POST", `/api/${name}`, body())).body as Item;
      for (const [verb, path] of [
        ["POST", `/api/${name}`],
        [method, `/api/${name}/${id}`],
        ["DELETE", `/api/${name}/${id}`],
      ] as const) {
        expect((await call(verb, path, body(), ana)).status).toBe(404);
        expect((await api.call(verb, path, { json: body() })).status).toBe(401);
      }
      const own = name === "summary" || name === "subscription";
      expect((await call("GET", `/api/${name}/${id}`, undefined, ana)).status).toBe(own ? 200 : 404);
      const berta = await api.signUp("Berta");
      expect((await call("GET", `/api/${name}/${id}`, undefined, berta)).status).toBe(404);
      await call("DELETE", `/api/${name}/${id}`);
    });

    it.each([
      ["training", { title: "", kind: "otro", content: "" }, ["content", "kind", "title"]],
      ["training", { title: "a", kind: "example", content: "b", projectId: "nada" }, ["projectId"]],
      ["summary", { chatId: "nada", upToMessageId: "nada", content: "x" }, ["upToMessageId"]],
      ["subscription", { userId: "nada", plan: "pro", startsAt: "ayer" }, ["startsAt"]],
      ["subscription", { userId: "nada", plan: "pro", startsAt: "2026-01-01" }, ["userId"]],
      ["page", { slug: "Con Espacios", title: "x" }, ["slug"]],
      ["page", { slug: "admin", title: "x" }, ["slug"]],
      ["page", { slug: "servicios", title: "Otra" }, ["slug"]],
      ["user", { name: "", email: "x", password: "1" }, ["email", "name", "password"]],
    ])("refuses a wrong %s by its fields", async (name, body, fields) => {
      const answer = await call("POST", `/api/${name}`, body);
      expect(answer.status).toBe(422);
      expect(Object.keys((answer.body as { errors: object }).errors).sort()).toEqual(fields);
    });

    it("gives knowledge to the model until it is disabled", async () => {
      const json = { title: "Horario", kind: "knowledge", content: "La biblioteca abre a las nueve y media." };
      const { id } = (await call("POST", "/api/training", json)).body as Item;
      const ask = async () => textOf(await api.converse(ana.token, { content: "¿Cuándo abre la biblioteca?" }));
      expect(await ask()).toContain("nueve y media");
      await call("PATCH", `/api/training/${id}`, { content: "La biblioteca abre a las once." });
      expect(await ask()).toContain("a las once");
      await call("PATCH", `/api/training/${id}`, { enabled: false });
      expect(await ask()).not.toContain("a las once");
    });

    it("creates accounts that sign in and locks out deactivated ones", async () => {
      const email = `carla-${crypto.randomUUID()}@ejemplo.es`;
      const made = await call("POST", "/api/user", { name: "Carla", email, password });
      expect(made.status).toBe(201);
      expect(made.text).not.toContain("password");
      const { id } = made.body as Item;
      expect((await call("POST", "/api/user", { name: "Otra", email: email.toUpperCase(), password })).status).toBe(
        409,
      );
      const signIn = () => api.call("POST", "/auth/signin", { json: { email, password } });
      const { text: token } = await signIn();
      const seen = () => api.call("GET", "/auth/session", { token });
      expect((await seen()).status).toBe(200);
      expect((await call("DELETE", `/api/user/${id}/sessions`)).status).toBe(204);
      expect((await seen()).status).toBe(401);
      await call("PATCH", `/api/user/${id}`, { status: "inactive" });
      const again = await signIn();
      const chat = await api.call("GET", "/api/chat", { token: again.text });
      expect(chat.status).not.toBe(200);
      expect((await call("DELETE", `/api/user/${id}`)).status).toBe(204);
      expect((await call("GET", `/api/user/${id}`)).status).toBe(404);
    });

    it("tests a model and reports its answer or the error", async () => {
      const mock = await startModelServer();
      const make = async (baseUrl: string) => {
        const json = {
          name: "De prueba",
          provider: "openai-compatible",
          externalId: "modelo",
          baseUrl,
          apiKey: "clave",
        };
        return ((await call("POST", "/api/model", json)).body as Item).id;
      };
      const good = await call("POST", `/api/model/${await make(`${mock.url}/v1`)}/test`);
      expect(good.body).toMatchObject({ ok: true, answer: "Una respuesta **breve**. Con dos frases." });
      const dead = await call("POST", `/api/model/${await make("http://127.0.0.1:9/v1")}/test`);
      expect(dead.body).toMatchObject({ ok: false, answer: expect.stringContaining("No se ha podido conectar") });
      await mock.stop();
      expect((await call("POST", "/api/model/discover")).body).toMatchObject({
        found: 0,
        silent: expect.arrayContaining(["127.0.0.1:9"]),
      });
      expect((await call("POST", "/api/model/discover", undefined, ana)).status).toBe(404);
    });

    it("counts people, messages and failures of the last days", async () => {
      const { people, activeToday, days, models } = (await call("GET", "/api/usage/figures?days=7")).body as {
        people: number;
        activeToday: number;
        days: { messages: number }[];
        models: { name: string; messages: number }[];
      };
      expect(people).toBeGreaterThan(1);
      expect(activeToday).toBeGreaterThan(0);
      expect(days).toHaveLength(7);
      expect(days.at(-1)?.messages).toBeGreaterThan(0);
      expect(models[0]?.name).toBe("Asistente local");
      expect((await call("GET", "/api/usage/figures", undefined, ana)).status).toBe(404);
    });

    it("shows contact e-mails and the audit trail to administrators only", async () => {
      const letter = { name: "Vecina", email: "vecina@ejemplo.es", message: "¿Abrís los domingos?" };
      await api.call("POST", "/api/email/contact", { json: letter });
      const { items } = (await call("GET", "/api/email?q=domingos")).body as { items: Item[] };
      expect(items).toEqual([expect.objectContaining({ ...letter, kind: "contact" })]);
      const trail = (await call("GET", '/api/audit?filter={"resource":"model"}')).body as {
        items: { changes: string }[];
      };
      expect(trail.items.length).toBeGreaterThan(0);
      expect(JSON.stringify(trail)).not.toContain("clave");
      for (const path of ["/api/email", `/api/email/${items[0]?.id}`, "/api/audit"]) {
        expect((await call("GET", path, undefined, ana)).status).toBe(404);
      }
    });

    it("records before and after changes until the owner's account ends", async () => {
      const carla = await api.signUp("Carla");
      const [start] = await api.converse(carla.token, { content: "Un secreto de Carla" });
      if (start?.type !== "start") throw new Error("no start");
      await api.inspect(admin.token, "chat", start.chatId);
      await call("PATCH", `/api/message/${start.userMessageId}`, { content: "Cambiado por otra" });
      await call("DELETE", `/api/chat/${start.chatId}`);
      const trail = async () =>
        (await api.db.selectFrom("audit").where("ownerId", "=", carla.id).orderBy("id").selectAll().execute()).map(
          ({ action, resource, changes }) => [action, resource, JSON.parse(changes)],
        );
      expect(await trail()).toEqual([
        ["read", "chat", { after: { purpose: "Para una prueba" } }],
        ["update", "message", { before: { characters: 19 }, after: { characters: 17 } }],
        ["delete", "chat", { before: expect.objectContaining({ userId: carla.id }) }],
      ]);
      await call("DELETE", `/api/user/${carla.id}`, { currentPassword: password }, carla);
      expect(await trail()).toEqual([
        ["read", "chat", {}],
        ["update", "message", {}],
        ["delete", "chat", {}],
      ]);
      const about = await api.db
        .selectFrom("audit")
        .where("ownerId", "=", carla.id)
        .select(["actorId", "ip"])
        .execute();
      expect(about).toEqual(Array(3).fill({ actorId: admin.id, ip: "127.0.0.1" }));
      const { items } = (await call("GET", `/api/audit?filter=${JSON.stringify({ resourceId: carla.id })}`)).body as {
        items: { action: string; actorId: string; ip: string; at: string; createdAt: string; changes: object }[];
      };
      // Rows of the person's own actions keep no address; the row of the account's end keeps its actor and address.
      expect(items.map(({ action, ip }) => [action, ip])).toEqual([
        ["delete", "127.0.0.1"],
        ["update", ""],
        ["signup", ""],
      ]);
      expect(items[0]).toMatchObject({ actorId: carla.id, at: items[0]?.createdAt, changes: {} });
    });

    it("keeps the last admin, whoever asks", async () => {
      for (const change of [{ role: "user" }, { status: "inactive" }]) {
        expect((await call("PATCH", `/api/user/${admin.id}`, change)).status).toBe(409);
      }
      await call("PATCH", `/api/user/${ana.id}`, { role: "admin" });
      expect((await call("PATCH", `/api/user/${ana.id}`, { role: "user" })).status).toBe(200);
    });

    it("lets nobody make more of themselves", async () => {
      for (const change of [{ role: "admin" }, { status: "inactive" }]) {
        const answer = await call("PATCH", `/api/user/${ana.id}`, change, ana);
        expect(answer.status).toBe(422);
      }
      for (const [verb, path] of [
        ["GET", "/api/user"],
        ["POST", "/api/user"],
        ["GET", `/api/user/${admin.id}`],
        ["PATCH", `/api/user/${admin.id}`],
        ["DELETE", `/api/user/${admin.id}`],
        ["DELETE", `/api/user/${admin.id}/sessions`],
      ] as const) {
        const body = { name: "X", email: "x@ejemplo.es", password, currentPassword: password };
        const json =
          verb === "POST"
            ? { name: body.name, email: body.email, password }
            : verb === "DELETE"
              ? { currentPassword: password }
              : verb === "PATCH"
                ? { name: "X" }
                : undefined;
        expect([verb, path, (await call(verb, path, json, ana)).status]).toEqual([verb, path, 404]);
      }
    });
  });
}
