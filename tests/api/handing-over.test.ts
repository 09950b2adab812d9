import { expect, it, onTestFinished, vi } from "vitest";
import { Run } from "../../app/replies/running/run.server.ts";
import { RunningText } from "../../app/replies/running/running-text.server.ts";
import { openApi } from "../support/api.ts";
import { sqlite } from "../support/engines.ts";

it.each([
  ["that goes on here is stored with a sign of life", false],
  ["that is left shows no sign of life any more, so that another process takes it up at once", true],
])("a reply %s", async (_what, isLeft) => {
  const api = await openApi(sqlite);
  onTestFinished(() => api.close());
  const ana = await api.signUp();
  const [start] = await api.converse(ana.token, { content: "Hola" });
  if (start?.type !== "start") throw new Error("no start");
  const row = { status: "streaming" as const, writer: "this process", heartbeatAt: 0, content: "" };
  await api.db.updateTable("messages").set(row).where("id", "=", start.messageId).execute();

  const run = new Run({ ...row, id: start.messageId, sources: null }, []);
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const text = new RunningText(api.services, new Map([[run.messageId, run]]));
  run.write("Ya está.");
  if (isLeft) run.leave("another");
  vi.advanceTimersByTime(10_000);
  await text.close();
  const stored = await api.db
    .selectFrom("messages")
    .where("id", "=", run.messageId)
    .select("heartbeatAt")
    .executeTakeFirstOrThrow();
  expect(stored.heartbeatAt === 0).toBe(isLeft);
});
