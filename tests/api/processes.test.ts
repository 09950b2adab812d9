import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { SharedClock } from "../../app/db/processes/clock.server.ts";
import { Processes } from "../../app/db/processes/processes.server.ts";
import { Changes } from "../../app/realtime/changes.server.ts";
import type { Chunk } from "../../app/replies/chunk.ts";
import { follow } from "../../app/replies/follow.server.ts";
import { Runs } from "../../app/replies/running/runs.server.ts";
import { sendMessage } from "../../app/replies/start.server.ts";
import { type Account, type Api, fromItsBeginning, openApi, textOf } from "../support/api.ts";
import { sharedEngines } from "../support/engines.ts";
import { longReply, startModelServer } from "../support/model-server.ts";

const shared = await sharedEngines();

describe.each(shared)("several processes on one $name", (engine) => {
  let api: Api;
  let mock: LLMock;
  let ana: Account;
  let other: Runs;
  let processes: Processes;
  beforeAll(async () => {
    api = await openApi(engine);
    mock = await startModelServer();
    ana = await api.signUp("Ana");
    const json = {
      name: "x",
      provider: "openai-compatible",
      externalId: "gpt-4o",
      baseUrl: `${mock.url}/v1`,
      apiKey: "k",
      isDefault: true,
    };
    await api.call("POST", "/api/model", { token: ana.token, json });
    processes = new Processes(api.services);
    other = new Runs({ ...api.services, processes });
  });
  afterAll(async () => {
    await other.close(0);
    await mock.stop();
    await api.close();
  });

  it("follows a reply written in another process to the end", async () => {
    const { messageId } = await api.start(ana.token, { content: "Una respuesta lenta" });
    const chunks = [];
    for await (const read of follow({ ...api.services, runs: other }, messageId, fromItsBeginning))
      chunks.push(...read);
    expect(textOf(chunks)).toBe(longReply);
    // More often than it would look by itself: it is told when more is stored.
    expect(chunks.filter(({ type }) => type === "text").length).toBeGreaterThan(20);
    expect(chunks.at(-1)).toMatchObject({ type: "end", status: "complete" });
  });

  it("a reply that one writes is stopped through another", async () => {
    const { messageId } = await api.start(ana.token, { content: "Una respuesta lenta" });
    await other.stop(messageId);
    await api.services.runs.get(messageId)?.ended;
    const row = await api.db
      .selectFrom("messages")
      .where("id", "=", messageId)
      .select(["status", "content"])
      .executeTakeFirstOrThrow();
    expect(row.status).toBe("stopped");
    expect(row.content.length).toBeLessThan(longReply.length);
  });

  it("leaves live replies of another process alone", async () => {
    const { messageId } = await api.start(ana.token, { content: "Una respuesta lenta" });
    expect(await other.adopt()).toEqual({ resumed: 0, interrupted: 0 });
    await api.services.runs.stop(messageId);
  });

  describe("one of them goes", () => {
    const row = (id: string) =>
      api.db.selectFrom("messages").where("id", "=", id).selectAll().executeTakeFirstOrThrow();
    /** A process that begins a slow reply, and what it takes to look at it. */
    const begin = async (content: string) => {
      const own = new Processes(api.services);
      const runs = new Runs({ ...api.services, processes: own });
      const model = await api.db.selectFrom("models").where("name", "=", "x").selectAll().executeTakeFirstOrThrow();
      const { messageId } = await sendMessage({ db: api.db, runs }, { userId: ana.id, content, model });
      await expect.poll(async () => (await row(messageId)).content.length).toBeGreaterThan(50);
      return { runs, messageId };
    };
    const load = () => ({ replies: 0, memory: 0, delay: 0 });

    it("hands a closing process's reply on without interrupting readers", async () => {
      await processes.join(load);
      const { runs, messageId } = await begin("Una respuesta lenta");
      const chunks: Chunk[] = [];
      const reading = (async () => {
        for await (const read of follow({ ...api.services, runs }, messageId, fromItsBeginning)) chunks.push(...read);
      })();
      await runs.close(20_000);
      const left = await row(messageId);
      expect(left.status).toBe("streaming");
      await reading;
      await processes.leave();
      const { content, status, takeovers, inputTokens } = await row(messageId);
      expect(status).toBe("complete");
      expect(content).toMatch(/ Y aquí sigue\.$/);
      expect(longReply.startsWith(content.replace(" Y aquí sigue.", ""))).toBe(true);
      expect(textOf(chunks)).toBe(content);
      expect(chunks.at(-1)).toMatchObject({ type: "end", status: "complete" });
      // A planned hand-over is no takeover, and the tokens of both parts are counted.
      expect(takeovers).toBe(0);
      expect(inputTokens).toBeGreaterThan(10);
    });

    it("leaves the reply to the next start without other processes", async () => {
      await api.services.processes.leave();
      const { runs, messageId } = await begin("Una respuesta lenta");
      const chunks: Chunk[] = [];
      const reading = (async () => {
        for await (const read of follow({ ...api.services, runs }, messageId, fromItsBeginning)) chunks.push(...read);
      })();
      await runs.close(100);
      await api.services.processes.join(load);
      await reading;
      expect(chunks.at(-1)).toMatchObject({ type: "end", status: "interrupted" });
      // Somebody begins meanwhile.
      await expect.poll(() => row(messageId)).toMatchObject({ status: "complete", takeovers: 0 });
    });

    it("stops a stalled process from adding to a taken-over reply", async () => {
      const { runs, messageId } = await begin("Una respuesta lenta");
      const still = runs.get(messageId);
      await api.db.updateTable("messages").set({ heartbeatAt: 1 }).where("id", "=", messageId).execute();
      expect(await other.adopt()).toEqual({ resumed: 1, interrupted: 0 });
      await still?.ended;
      expect(still?.leftTo).toBe("another");
      await other.get(messageId)?.ended;
      const { content, takeovers } = await row(messageId);
      expect(content).toMatch(/ Y aquí sigue\.$/);
      expect(longReply.startsWith(content.replace(" Y aquí sigue.", ""))).toBe(true);
      expect(takeovers).toBe(1);
      await runs.close(0);
    });

    it("counts the tokens requested by a killed process", async () => {
      const { messageId } = await begin("Una respuesta lenta");
      const used = () => api.db.selectFrom("usage").where("userId", "=", ana.id).selectAll().executeTakeFirstOrThrow();
      const before = await used();
      await api.db.updateTable("messages").set({ heartbeatAt: 1 }).where("id", "=", messageId).execute();
      await api.db.updateTable("models").set({ resumes: 0 }).where("name", "=", "x").execute();
      expect(await other.adopt()).toEqual({ resumed: 0, interrupted: 1 });
      await api.db.updateTable("models").set({ resumes: 1 }).where("name", "=", "x").execute();
      const { inputTokens, outputTokens, status } = await row(messageId);
      expect(status).toBe("interrupted");
      expect(inputTokens).toBeGreaterThan(0);
      expect(outputTokens).toBeGreaterThan(10);
      const after = await used();
      expect(after.outputTokens - before.outputTokens).toBeGreaterThanOrEqual(outputTokens ?? 0);
    });

    it("clocks an hour apart do not make the living dead", async () => {
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
      const ahead = new SharedClock();
      await ahead.follow(api.db, api.services.log);
      expect(Math.abs(ahead.now() - api.services.clock.now())).toBeLessThan(60_000);
      expect(Math.abs(ahead.ahead - 3_600_000)).toBeLessThan(60_000);
      // Set right while it runs.
      vi.useRealTimers();
      expect(Math.abs(ahead.now() - api.services.clock.now())).toBeLessThan(60_000);
      ahead.stop();
    });
  });

  describe("where the clock of one is an hour ahead", () => {
    const hour = 3_600_000;
    /** Runs `work` in a process whose clock is an hour ahead of the others'. */
    async function anHourAhead<T>(work: () => Promise<T>): Promise<T> {
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hour });
      return work().finally(() => vi.useRealTimers());
    }
    const me = (token: string) => api.call("GET", "/auth/session", { token }).then(({ status }) => status);

    it("accepts a session in every process with the same expiry", async () => {
      const bea = await api.signUp("Bea");
      expect(await anHourAhead(() => me(bea.token))).toBe(200);
      const carla = await anHourAhead(() => api.signUp("Carla"));
      expect(await me(carla.token)).toBe(200);
      const { accessExpiresAt } = await api.db
        .selectFrom("sessions")
        .where("userId", "=", carla.id)
        .select("accessExpiresAt")
        .executeTakeFirstOrThrow();
      expect(Math.abs(Number(accessExpiresAt) - Date.now() - 15 * 60_000)).toBeLessThan(60_000);
    });

    it("accepts a tab's old token after another process renewed it", async () => {
      const bea = await api.signUp("Bea");
      const headers = { Cookie: `refresh=${bea.refresh}` };
      const renew = () => api.call("POST", "/auth/refresh", { headers });
      expect((await renew()).status).toBe(200);
      expect((await anHourAhead(renew)).status).toBe(200);
    });

    it("keeps an invitation valid for seven days by one clock", async () => {
      const json = { email: "nueva@ejemplo.es" };
      const made = await anHourAhead(() => api.call("POST", "/api/invitation", { token: ana.token, json }));
      const { expiresAt } = await api.db
        .selectFrom("invitations")
        .where("id", "=", (made.body as { id: string }).id)
        .select("expiresAt")
        .executeTakeFirstOrThrow();
      expect(Math.abs(Number(expiresAt) - Date.now() - 7 * 24 * hour)).toBeLessThan(60_000);
    });
  });

  it("a change that one writes is heard in another", async () => {
    const elsewhere = new Changes(api.notices);
    const heard: string[] = [];
    elsewhere.listen(({ userId, what }) => userId === ana.id && heard.push(what));
    await expect
      .poll(async () => {
        await api.call("POST", "/api/project", { token: ana.token, json: { name: "Tesis" } });
        return heard;
      })
      .toContain("project");
  });

  it("eight «Continuar» at the same moment start one reply", async () => {
    const { messageId } = await api.start(ana.token, { content: "Una respuesta lenta" });
    await api.services.runs.stop(messageId);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        api.call("POST", "/api/intelligence/conversation", { token: ana.token, json: { parentId: messageId } }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422, 422, 422, 422, 422, 422]);
  });
});
