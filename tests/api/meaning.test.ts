import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { type EmbeddingServer, startEmbeddingServer } from "../support/embedding-server.ts";
import { ruleEngines } from "../support/engines.ts";

const handbook = [
  "El personal dispone de veintitrés jornadas libres al año, que se acuerdan con la jefatura.",
  "La sala de máquinas se cierra a las ocho de la tarde.",
  "Cada mesa lleva una lámpara regulable y dos enchufes.",
  "Los pedidos de papelería se hacen los jueves por la mañana.",
  "Las visitas firman en el libro de la entrada.",
  "El comedor abre de una a cuatro y tiene dos turnos.",
  "La bicicleta se deja en el patio, nunca en el portal.",
  "El agua de las plantas se cambia los lunes.",
];

describe.each(await ruleEngines())("search by meaning on $name", (engine) => {
  let api: Api;
  let admin: Account;
  let ana: Account;
  let server: EmbeddingServer;
  beforeAll(async () => {
    server = await startEmbeddingServer([
      /jornadas libres|vacaciones|descanso/i,
      /bicicleta|pedales/i,
      /comedor|almorzar/i,
    ]);
    api = await openApi(engine);
    admin = await api.signUp("Admin");
    ana = await api.signUp("Ana");
    const files = handbook.map((text, index) => new File([text], `norma-${index}.txt`));
    await api.upload(ana.token, files);
  });
  afterAll(async () => {
    await api.close();
    await server.stop();
  });

  const model = () => ({ name: "De prueba", externalId: "ideas", baseUrl: server.url, apiKey: "clave" });
  const save = (change: object = {}, token = admin.token) =>
    api.call("POST", "/api/search-model", { token, json: { ...model(), ...change } });
  const seek = async (q: string, token = ana.token) => {
    const { body } = await api.call("GET", `/api/search?mode=passages&q=${encodeURIComponent(q)}`, { token });
    return (body as { passages: { text: string }[] }).passages.map(({ text }) => text);
  };
  const seekFiles = async (q: string, token = ana.token) => {
    const { body } = await api.call("GET", `/api/search?q=${encodeURIComponent(q)}`, { token });
    return (body as { files: { name: string }[] }).files.map(({ name }) => name);
  };
  /** Has the job that learns run once more, to its end. */
  async function learn() {
    await api.db.updateTable("jobs").set({ dueAt: 0 }).where("kind", "=", "meanings").execute();
    api.services.jobs.wake("meanings");
    await expect
      .poll(async () => {
        const job = await api.db
          .selectFrom("jobs")
          .where("kind", "=", "meanings")
          .selectAll()
          .executeTakeFirstOrThrow();
        return job.state === "waiting" && job.dueAt > 0;
      })
      .toBe(true);
  }
  const vectors = async () => (await api.db.selectFrom("vectors").select("seq").execute()).length;

  it("without a model, other words find nothing", async () => {
    expect(await seek("¿Cuántas vacaciones tengo?")).toEqual([]);
  });

  it.each([
    ["fails", "tiene un problema"],
    ["drops one", "no son los números"],
    ["html", "no se entiende"],
  ] as const)("refuses to enable a model that %s and explains why", async (how, why) => {
    server.behave(how);
    const { status, body } = await save();
    server.behave("answers");
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain("Se ha probado, y no va.");
    expect(JSON.stringify(body)).toContain(why);
    expect((await save({ enabled: false, name: `Apagado ${how}` })).status).toBe(201);
  });

  it("is configured by administrators only and hides the key", async () => {
    expect((await save({}, ana.token)).status).toBe(404);
    const { status, body, text } = await save();
    expect(status).toBe(201);
    expect(body).toMatchObject({ name: "De prueba", enabled: true, hasKey: true, problem: null });
    expect(text).not.toContain('clave"');
    const moved = { ...model(), apiKey: null, baseUrl: "http://127.0.0.1:9/v1" };
    const { id } = body as { id: string };
    const { status: refused, text: why } = await api.call("PUT", `/api/search-model/${id}`, {
      token: admin.token,
      json: moved,
    });
    expect([refused, why]).toEqual([422, expect.stringContaining("escribir la clave otra vez")]);
  });

  it("finds documents by meaning, for their owner only", async () => {
    await learn();
    await expect.poll(vectors).toBe(handbook.length);
    expect((await seek("¿Cuántas vacaciones tengo?"))[0]).toBe(handbook[0]);
    expect((await seek("algo para ir a pedales"))[0]).toBe(handbook[6]);
    // The passage with the very words still comes first.
    expect((await seek("¿Dónde firman las visitas?"))[0]).toBe(handbook[4]);
    const berta = await api.signUp("Berta");
    expect(await seek("¿Cuántas vacaciones tengo?", berta.token)).toEqual([]);
  });

  it("shows relevant matches in the search field and no others", async () => {
    expect(await seekFiles("vacaciones")).toEqual(["norma-0.txt"]);
    expect(await seekFiles("xilófono")).toEqual([]);
  });

  it("gives programs embeddings, counted in their plan", async () => {
    const ask = (json: object, token = ana.token) => api.call("POST", "/embeddings", { token, json });
    const { body } = await ask({ model: "ideas", input: ["Unas vacaciones", "Otra cosa"] });
    const { data } = body as { data: { embedding: number[] }[] };
    expect(data.map(({ embedding }) => embedding.length)).toEqual([256, 256]);
    const packed = (await ask({ input: "Unas vacaciones", encoding_format: "base64" })).body as {
      data: { embedding: string }[];
    };
    const bytes = Buffer.from(packed.data[0]?.embedding ?? "", "base64");
    expect(bytes.readFloatLE(0)).toBeCloseTo(data[0]?.embedding[0] ?? 0, 5);
    expect((await ask({ input: [] })).status).toBe(422);
    expect((await ask({ input: [[9, 14], [7]] })).status).toBe(200);
    expect((await ask({ input: [5, 6] })).status).toBe(200);
    expect(server.asked.slice(-3)).toEqual(["9,14", "7", "5,6"]);
    expect((await ask({ input: [[9, -1]] })).status).toBe(422);
    const asOllama = await api.call("POST", "/ollama/api/embed", { token: ana.token, json: { input: ["Hola"] } });
    expect((asOllama.body as { embeddings: number[][] }).embeddings[0]).toHaveLength(256);
    expect((await ask({ input: "Hola", dimensions: 256 })).status).toBe(200);
    const { status: refused, text: why } = await ask({ input: "Hola", dimensions: 64 });
    expect([refused, why]).toEqual([422, expect.stringContaining("Este modelo no admite «dimensions».")]);
    // They count in the plan, as replies do.
    const used = await api.db.selectFrom("usage").where("userId", "=", ana.id).selectAll().execute();
    expect(used.map(({ inputTokens, messages }) => [Number(inputTokens), messages])).toContainEqual([21, 0]);
    const figures = await api.call("GET", "/api/usage/figures", { token: admin.token });
    expect((figures.body as { models: { name: string }[] }).models.map(({ name }) => name)).toContain("De prueba");
    const plan = { userId: ana.id, plan: "pro", startsAt: new Date().toISOString(), tokensPerMonth: 1 };
    const { body: made } = await api.call("POST", "/api/subscription", { token: admin.token, json: plan });
    expect((await ask({ input: "Otra vez" })).status).toBe(429);
    await api.call("DELETE", `/api/subscription/${(made as { id: string }).id}`, { token: admin.token });
    const rows = await api.db.selectFrom("searchModels").where("enabled", "=", 1).select("id").execute();
    await api.db.updateTable("searchModels").set({ enabled: 0 }).execute();
    const { status, text } = await ask({ input: "Hola" });
    expect([status, text]).toEqual([404, expect.stringContaining("no hay modelo de búsqueda")]);
    for (const { id } of rows)
      await api.db.updateTable("searchModels").set({ enabled: 1 }).where("id", "=", id).execute();
  });

  it("embeds new documents once and forgets deleted ones", async () => {
    const asked = server.asked.length;
    await learn();
    expect(server.asked.length).toBe(asked);
    const { body: files } = await api.upload(ana.token, [
      new File(["Para almorzar hay que avisar antes."], "almuerzo.txt"),
    ]);
    const [file] = (files as { items: { id: string }[] }).items;
    await learn();
    expect(server.asked.slice(asked)).toEqual([expect.stringContaining("Para almorzar")]);
    expect(await seek("¿Cuándo abre el comedor?")).toContain("Para almorzar hay que avisar antes.");
    await api.call("DELETE", `/api/file/${file?.id}`, { token: ana.token });
    expect(await vectors()).toBe(handbook.length);
  });

  it("embeds other passages when the model refuses one", async () => {
    const texts = ["Algo LARGUÍSIMO.", "Para el descanso hay una sala azul."];
    const files = texts.map((text, n) => new File([text], `otra-${n}.txt`));
    const { body } = await api.upload(ana.token, files);
    await learn();
    expect((await seek("¿Cuántas vacaciones tengo?")).slice(0, 2)).toContain("Para el descanso hay una sala azul.");
    for (const { id } of (body as { items: { id: string }[] }).items) {
      await api.call("DELETE", `/api/file/${id}`, { token: ana.token });
    }
  });

  it.each([
    ["alone", ["Algo que da NaN."]],
    ["among others", ["Otra cosa que da NaN.", "Para leer hay una sala verde."]],
  ])("learns past a text on which the server fails, %s, and asks for it no more", async (_how, texts) => {
    const files = texts.map((text, n) => new File([text], `rota-${n}.txt`));
    const { body } = await api.upload(ana.token, files);
    await learn();
    for (const text of texts.slice(1)) expect(server.asked.join()).toContain(text);
    const { failed } = server;
    await learn();
    expect(server.failed).toBe(failed);
    expect(failed).toBeGreaterThan(0);
    for (const { id } of (body as { items: { id: string }[] }).items) {
      await api.call("DELETE", `/api/file/${id}`, { token: ana.token });
    }
  });

  it("what goes with a temporary conversation is not told", async () => {
    const { body } = await api.upload(ana.token, [new File(["Unas vacaciones secretas."], "secreto.txt")]);
    const [file] = (body as { items: { id: string }[] }).items;
    const session = await api.db
      .selectFrom("sessions")
      .where("userId", "=", ana.id)
      .select("id")
      .executeTakeFirstOrThrow();
    await api.db
      .updateTable("files")
      .set({ sessionId: session.id })
      .where("id", "=", file?.id ?? "")
      .execute();
    await learn();
    expect(server.asked.join()).not.toContain("secretas");
    await api.call("DELETE", `/api/file/${file?.id}`, { token: ana.token });
  });

  it("falls back to words when the server is unavailable", async () => {
    server.behave("hangs");
    expect((await seek("¿Dónde firman las visitas?"))[0]).toBe(handbook[4]);
    expect(server.unanswered).toBe(1);
    // It is not asked, and so not waited for, a second time.
    expect((await seek("¿Dónde firman las visitas?"))[0]).toBe(handbook[4]);
    expect(server.unanswered).toBe(1);
    server.behave("has no model");
    await api.upload(ana.token, [new File(["Otra norma."], "otra.txt")]);
    await learn();
    server.behave("fails");
    await learn();
    const { body } = await api.call("GET", `/api/search-model?filter=${JSON.stringify({ enabled: true })}`, {
      token: admin.token,
    });
    expect(body).toMatchObject({ items: [{ problem: expect.stringContaining("problema") }] });
    server.behave("answers");
    await learn();
    expect(await vectors()).toBe(handbook.length + 1);
    const { body: well } = await api.call("GET", `/api/search-model?filter=${JSON.stringify({ enabled: true })}`, {
      token: admin.token,
    });
    expect(well).toMatchObject({ items: [{ problem: null }] });
  });

  it("re-embeds everything for another model; deletes vectors with the last", async () => {
    const asked = server.asked.length;
    const { body } = await save({ name: "Otro", externalId: "ideas-2", passagePrefix: "passage:" });
    await learn();
    await learn();
    expect(server.asked.slice(asked + 1).filter((text) => text.startsWith("passage: "))).toHaveLength(
      handbook.length + 1,
    );
    const { body: list } = await api.call("GET", `/api/search-model?filter=${JSON.stringify({ enabled: true })}`, {
      token: admin.token,
    });
    expect(list).toMatchObject({ items: [{ id: (body as { id: string }).id }] });
    const { body: all } = await api.call("GET", "/api/search-model", { token: admin.token });
    for (const { id } of (all as { items: { id: string }[] }).items) {
      expect((await api.call("DELETE", `/api/search-model/${id}`, { token: admin.token })).status).toBe(204);
    }
    await learn();
    expect(await vectors()).toBe(0);
  });
});
