import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";

type Heard = { headers: Record<string, string>; body: string; event: { type: string; data: Record<string, unknown> } };

/** A program that is told of events. `answers`: with which status. */
async function startListener() {
  const heard: Heard[] = [];
  const state = { answers: 204 };
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      heard.push({ headers: request.headers as Heard["headers"], body, event: JSON.parse(body) as Heard["event"] });
      response.writeHead(state.answers).end();
    });
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/avisos`;
  return { url, heard, state, stop: () => server.close() };
}

for (const engine of await ruleEngines()) {
  describe(`a program that is told of events, on ${engine.name}`, () => {
    let there: Awaited<ReturnType<typeof startListener>>;
    let api: Api;
    let admin: Account;
    let ana: Account;
    let id: string;
    const secret = `whsec_${Buffer.from("una clave de prueba").toString("base64")}`;
    const wanted = { replyEnded: true, personMade: true, limitReached: true };
    const body = () => ({ name: "Intranet", address: there.url, secret, ...wanted });
    beforeAll(async () => {
      there = await startListener();
      api = await openApi(engine);
      admin = await api.signUp("Admin");
      const made = await api.call("POST", "/api/webhook", { token: admin.token, json: body() });
      expect(made.status, made.text).toBe(201);
      expect(made.text).not.toContain(secret);
      id = (made.body as { id: string }).id;
      ana = await api.signUp("Ana");
    });
    afterAll(async () => {
      await api.close();
      there.stop();
    });
    const told = (type: string) => there.heard.filter(({ event }) => event.type === type);
    const hears = (type: string, times = 1) =>
      expect.poll(() => told(type).length, { timeout: 60_000 }).toBeGreaterThanOrEqual(times);

    it("is tested when added and refused if the test fails", async () => {
      expect(told("test")).toHaveLength(1);
      there.state.answers = 500;
      const refused = await api.call("POST", "/api/webhook", { token: admin.token, json: body() });
      there.state.answers = 204;
      expect(refused.status).toBe(422);
      expect(refused.text).toContain("Se ha probado, y no va. Ha contestado 500.");
    });

    it("hears of a new account, signed", async () => {
      api.services.jobs.wake("webhook");
      await hears("person.created");
      const [message] = told("person.created");
      expect(message?.event.data).toEqual({ userId: ana.id });
      const { headers, body: sent } = message as Heard;
      const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${sent}`;
      const expected = createHmac("sha256", "una clave de prueba").update(signed).digest("base64");
      expect(headers["webhook-signature"]).toBe(`v1,${expected}`);
    });

    it("hears of a reply that has ended, without its words", async () => {
      const [start] = await api.converse(ana.token, { content: "Un secreto mío" });
      api.services.jobs.wake("webhook");
      await hears("reply.ended");
      const [message] = told("reply.ended");
      expect(message?.event.data).toMatchObject({ userId: ana.id, status: "complete" });
      expect(message?.event.data.messageId).toBe(start?.type === "start" && start.messageId);
      expect(message?.body).not.toContain("secreto");
    });

    it("is told once daily that a plan is exhausted", async () => {
      const group = await api.call("POST", "/api/group", {
        token: admin.token,
        json: { name: "Uno al día", messagesPerDay: 1 },
      });
      const json = { groupId: (group.body as { id: string }).id, userId: ana.id };
      await api.call("POST", "/api/member", { token: admin.token, json });
      for (let n = 0; n < 3; n++) {
        const answer = await api.call("POST", "/api/intelligence/conversation", {
          token: ana.token,
          json: { content: "Otra" },
        });
        expect(answer.status).toBe(429);
      }
      api.services.jobs.wake("webhook");
      await hears("limit.reached");
      const jobs = await api.db.selectFrom("jobs").where("key", "like", `${id} limit%`).select("id").execute();
      expect(jobs).toHaveLength(1);
      expect(told("limit.reached")[0]?.event.data).toMatchObject({
        userId: ana.id,
        sentence: "Has usado el mensaje de hoy.",
      });
    });

    it("gets a failed delivery again later under the same id", async () => {
      there.state.answers = 503;
      const before = told("person.created").length;
      await api.signUp("Carla");
      api.services.jobs.wake("webhook");
      await hears("person.created", before + 1);
      await expect
        .poll(
          async () =>
            ((await api.call("GET", `/api/webhook/${id}`, { token: admin.token })).body as { problem: string }).problem,
        )
        .toBe("Ha contestado 503.");
      there.state.answers = 204;
      const failed = told("person.created").at(-1)?.headers["webhook-id"] ?? "";
      // The webhook's problem is stored before the job is put off.
      const job = api.db.selectFrom("jobs").where("id", "=", failed).select("state");
      await expect.poll(async () => (await job.executeTakeFirst())?.state).toBe("waiting");
      await api.db.updateTable("jobs").set({ dueAt: 0 }).where("id", "=", failed).execute();
      api.services.jobs.wake("webhook");
      await hears("person.created", before + 2);
      expect(told("person.created").at(-1)?.headers["webhook-id"]).toBe(failed);
      await expect
        .poll(
          async () =>
            ((await api.call("GET", `/api/webhook/${id}`, { token: admin.token })).body as { problem: string | null })
              .problem,
        )
        .toBeNull();
    });

    it("keeps its secret at its address", async () => {
      const json = { ...body(), secret: null, address: "http://127.0.0.1:9/" };
      const moved = await api.call("PUT", `/api/webhook/${id}`, { token: admin.token, json });
      expect(moved.text).toContain("hay que escribir el secreto otra vez");
    });
  });
}
