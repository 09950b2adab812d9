import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Changes } from "../../app/realtime/changes.server.ts";
import { follow } from "../../app/replies/follow.server.ts";
import { Runs } from "../../app/replies/runs.server.ts";
import { type Account, type Api, fromItsBeginning, openApi, textOf } from "../support/api.ts";
import { findEngines } from "../support/engines.ts";
import { longReply, startModelServer } from "../support/model-server.ts";

const shared = (await findEngines()).filter(({ name }) => name === "postgres");

describe.each(shared)("several processes on one $name", (engine) => {
  let api: Api;
  let mock: LLMock;
  let ana: Account;
  let other: Runs;
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
    other = new Runs(api.services);
  });
  afterAll(async () => {
    await other.close(0);
    await mock.stop();
    await api.close();
  });

  it("a reply that one writes is followed through another, to its end", async () => {
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

  it("the living replies of one are not taken for dead by another", async () => {
    const { messageId } = await api.start(ana.token, { content: "Una respuesta lenta" });
    expect(await other.markInterrupted()).toBe(0);
    await api.services.runs.stop(messageId);
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
