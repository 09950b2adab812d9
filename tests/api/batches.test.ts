import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { streamed } from "../support/doors.ts";
import { ruleEngines } from "../support/engines.ts";

type Batch = {
  id: string;
  title: string;
  state: string;
  total: number;
  answered: number;
  failed: number;
  cost: number;
  problem: string | null;
};

// Answers each question with it, in capitals; one with «falla» not at all, and none while it is shut.
const asked: string[] = [];
const state = { isShut: false, slow: 0 };
const server = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  const { messages = [] } = JSON.parse(body || "{}") as { messages?: { content: string }[] };
  const question = String(messages.at(-1)?.content);
  asked.push(question);
  if (state.slow) await wait(state.slow);
  if (state.isShut || question.includes("falla")) return response.writeHead(500).end("{}");
  response.writeHead(200, { "Content-Type": "text/event-stream" }).end(streamed(question.toUpperCase()));
});
// In ms. A connection that it closes after a pause, as the next request goes out, fails a row.
server.keepAliveTimeout = 60_000;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const modelAt = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;

for (const engine of await ruleEngines()) {
  describe(`questions in series, on ${engine.name}`, () => {
    let api: Api;
    let admin: Account;
    let ana: Account;
    let modelId: string;
    let templateId: string;
    beforeAll(async () => {
      api = await openApi(engine);
      admin = await api.signUp("Admin");
      ana = await api.signUp("Ana");
      const baseUrl = modelAt();
      const model = {
        name: "m",
        provider: "openai-compatible",
        externalId: "x",
        baseUrl,
        inputPrice: 0,
        outputPrice: 1_000_000,
      };
      modelId = ((await api.call("POST", "/api/model", { token: admin.token, json: model })).body as { id: string }).id;
      const json = { title: "Vecinos", content: "Di quién es {{nombre}}, de {{pueblo}}." };
      templateId = ((await api.call("POST", "/api/template", { token: ana.token, json })).body as { id: string }).id;
    });
    afterAll(() => api.close());

    const begin = (csv: string | Uint8Array<ArrayBuffer>, more: Record<string, string> = {}, { token } = ana) =>
      api.upload(token, [new File([csv], "datos.csv")], { templateId, modelId, ...more }, "/api/batch");
    const read = async (id: string) => (await api.call("GET", `/api/batch/${id}`, { token: ana.token })).body as Batch;
    const ends = async (id: string, how: string) => {
      await expect.poll(async () => (await read(id)).state, { timeout: 60_000 }).toBe(how);
      return read(id);
    };
    const result = async (id: string) => (await api.call("GET", `/api/batch/${id}/result`, { token: ana.token })).text;
    const act = (id: string, what: "stop" | "resume", { token } = ana) =>
      api.call("POST", `/api/batch/${id}/${what}`, { token, ...(what === "resume" && { json: {} }) });

    it("ask once per table row and return the answered table", async () => {
      const made = await begin(
        Buffer.from(
          'nombre;pueblo;nota\r\nJosé;Ávila;1\r\n"Ana ""la del pan""";Vigo;=2+2\r\nfalla;León;3\r\n',
          "latin1",
        ),
      );
      expect(made.status, made.text).toBe(201);
      const { id } = made.body as Batch;
      expect(await ends(id, "done")).toMatchObject({ title: "Vecinos", total: 3, answered: 2, failed: 1 });
      const lines = (await result(id)).split("\r\n");
      expect(lines.slice(0, 3)).toEqual([
        '"nombre";"pueblo";"nota";"Respuesta de una IA";"Problema"',
        '"José";"Ávila";"1";"DI QUIÉN ES JOSÉ, DE ÁVILA.";""',
        '"Ana ""la del pan""";"Vigo";"\'=2+2";"DI QUIÉN ES ANA ""LA DEL PAN"", DE VIGO.";""',
      ]);
      expect(lines[3]).toMatch(/^"falla";"León";"3";"";".+\."$/);
    });

    it("go on with what has failed, and with nothing else", async () => {
      state.isShut = true;
      const { id } = (await begin("nombre,pueblo\na,b\nc,d\ne,f\ng,h\ni,j\nk,l\nm,n\n")).body as Batch;
      const paused = await ends(id, "paused");
      expect(paused.problem).toContain("Han fallado 5 filas seguidas");
      expect(paused.failed).toBe(5);
      state.isShut = false;
      const before = asked.length;
      expect((await act(id, "resume")).status).toBe(200);
      expect(await ends(id, "done")).toMatchObject({ answered: 7, failed: 0, problem: null });
      expect(asked.length - before).toBe(7);
    });

    it("stop on request and pause at their budget", async () => {
      state.slow = 50;
      const table = `nombre,pueblo\n${"x,y\n".repeat(60)}`;
      const { id } = (await begin(table)).body as Batch;
      await expect.poll(async () => (await read(id)).answered).toBeGreaterThan(0);
      expect((await act(id, "stop")).body).toMatchObject({ state: "stopped" });
      await expect.poll(() => api.services.jobs.underway).toBe(0);
      const { answered } = await read(id);
      expect(answered).toBeLessThan(60);
      state.slow = 0;
      expect((await act(id, "resume")).status).toBe(200);
      await ends(id, "done");
      // Each answer costs what its tokens do.
      const dear = (await begin(table, { budget: "50" })).body as Batch;
      const paused = await ends(dear.id, "paused");
      expect(paused.problem).toBe("Se ha gastado lo que podía costar.");
      expect(paused.answered).toBeLessThan(60);
      expect(paused.cost).toBeGreaterThanOrEqual(50);
      const more = await api.call("POST", `/api/batch/${dear.id}/resume`, {
        token: ana.token,
        json: { budget: "100" },
      });
      expect(more.body).toMatchObject({ budget: 100 });
      expect((await ends(dear.id, "paused")).answered).toBeGreaterThan(paused.answered);
    });

    it("accept empty cells and pause when the model is deleted", async () => {
      const json = { name: "otro", provider: "openai-compatible", externalId: "y", baseUrl: modelAt() };
      const gone = ((await api.call("POST", "/api/model", { token: admin.token, json })).body as { id: string }).id;
      state.slow = 50;
      const { id } = (await begin(`nombre,pueblo\nAna,\n${"x,y\n".repeat(40)}`, { modelId: gone })).body as Batch;
      await expect.poll(async () => (await read(id)).answered).toBeGreaterThan(0);
      await api.call("DELETE", `/api/model/${gone}`, { token: admin.token });
      state.slow = 0;
      expect((await ends(id, "paused")).problem).toContain("Su modelo ya no está");
      expect((await result(id)).split("\r\n")[1]).toContain("DI QUIÉN ES ANA, DE .");
    });

    it("count toward the cost limit without usage from the server", async () => {
      const json = { name: "Caro", costPerMonth: 60 };
      const group = await api.call("POST", "/api/group", { token: admin.token, json });
      const one = { groupId: (group.body as { id: string }).id, userId: ana.id };
      const member = await api.call("POST", "/api/member", { token: admin.token, json: one });
      await api.db.deleteFrom("usage").where("userId", "=", ana.id).execute();
      const { id } = (await begin(`nombre,pueblo\n${"x,y\n".repeat(60)}`)).body as Batch;
      expect((await ends(id, "paused")).problem).toContain("han costado ya lo que pueden costar");
      await api.call("DELETE", `/api/member/${(member.body as { id: string }).id}`, { token: admin.token });
    });

    it("count toward their owner's message limit and pause at it", async () => {
      const berta = await api.signUp("Berta");
      const group = await api.call("POST", "/api/group", {
        token: admin.token,
        json: { name: "Tres al día", messagesPerDay: 3 },
      });
      const json = { groupId: (group.body as { id: string }).id, userId: ana.id };
      const member = await api.call("POST", "/api/member", { token: admin.token, json });
      await api.db.deleteFrom("usage").where("userId", "=", ana.id).execute();
      const { id } = (await begin("nombre,pueblo\na,b\nc,d\ne,f\ng,h\ni,j\n")).body as Batch;
      expect(await ends(id, "paused")).toMatchObject({
        answered: 3,
        problem: expect.stringContaining("Has usado los 3 mensajes de hoy"),
      });
      await api.call("DELETE", `/api/member/${(member.body as { id: string }).id}`, { token: admin.token });
      // Nobody else sees them, stops them or has them go on.
      for (const person of [berta, admin]) {
        expect((await act(id, "resume", person)).status).toBe(404);
        expect((await api.call("GET", `/api/batch/${id}/result`, { token: person.token })).status).toBe(404);
      }
      expect((await begin("nombre,pueblo\na,b\n", {}, berta)).text).toContain("Elige una plantilla");
      await act(id, "resume");
      expect(await ends(id, "done")).toMatchObject({ answered: 5 });
      expect((await api.call("DELETE", `/api/batch/${id}`, { token: ana.token })).status).toBe(204);
      expect(await api.db.selectFrom("batchQuestions").where("batchId", "=", id).select("id").execute()).toEqual([]);
    });

    it.each([
      ["Nombre,pueblo\na,b\n", "falta la columna «nombre». Tiene «Nombre», «pueblo»."],
      ["", "falta la columna «nombre», «pueblo». Está vacío."],
      ["nombre,pueblo\n", "ninguna fila"],
      [`nombre,pueblo\n${"a,b\n".repeat(1_001)}`, "tiene 1001 filas, y caben 1000"],
      ["x".repeat(2 * 1024 * 1024 + 1), "pesa más de 2 MB"],
      ["\u0000\u0001\u0002", "falta la columna"],
      [`nombre,pueblo,${"x,".repeat(150)}\na,b\n`, "152 columnas, y caben 100"],
    ])("are refused with the cause: %j", async (csv, sentence) => {
      const answer = await begin(csv);
      expect([answer.status, answer.text]).toEqual([422, expect.stringContaining(sentence)]);
    });

    it("are refused without blanks, valid budget or language model", async () => {
      const plain = { title: "Sin huecos", content: "Hola" };
      const { id } = (await api.call("POST", "/api/template", { token: ana.token, json: plain })).body as {
        id: string;
      };
      expect((await begin("a\nb\n", { templateId: id })).text).toContain("no tiene huecos");
      expect((await begin("nombre,pueblo\na,b\n", { budget: "mucho" })).text).toContain("número mayor que cero");
      const local = await api.db
        .selectFrom("models")
        .where("provider", "=", "local")
        .select("id")
        .executeTakeFirstOrThrow();
      expect((await begin("nombre,pueblo\na,b\n", { modelId: local.id })).text).toContain("Asistente local");
    });
  });
}
