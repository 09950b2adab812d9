import { expect, it, onTestFinished } from "vitest";
import { fill, people } from "../demo/fill.ts";
import { Browser, readable } from "../support/browser.ts";
import { startModelServer } from "../support/model-server.ts";
import { startServer } from "../support/server.ts";

it("the demonstration fills pages, and its accounts can sign in", async () => {
  const models = await startModelServer();
  onTestFinished(() => void models.stop());
  const server = await startServer({ OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: "clave" });
  onTestFinished(() => server.stop());
  await fill(`${server.url}/v1`);
  for (const { email } of people.all) await new Browser(server.url).signIn(email);
  const admin = new Browser(server.url);
  await admin.signIn(people.all[0]?.email ?? "");
  expect(readable(await admin.html("/conversation/chat"))).toContain("Fijados");
  expect(readable(await admin.html("/conversation/project"))).toContain("El huerto");
  expect(readable(await admin.html("/admin/subscription"))).toContain("Bruno Sanz");
});
