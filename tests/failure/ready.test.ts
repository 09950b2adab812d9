import { expect, it, onTestFinished } from "vitest";
import { findEngines } from "../support/engines.ts";
import { startServer } from "../support/server.ts";

const [, postgres] = await findEngines();

it.skipIf(!postgres)("says that it is not ready while its database is away, and ends all the same", async () => {
  const database = await postgres?.open();
  const server = await startServer({ DATABASE_URL: database?.url ?? "" });
  onTestFinished(() => server.stop());
  const ask = async (path: string) => (await fetch(server.url + path)).status;
  expect([await ask("/health"), await ask("/ready")]).toEqual([200, 200]);
  await database?.drop();
  expect([await ask("/health"), await ask("/ready")]).toEqual([200, 503]);
  expect(await server.end("SIGINT")).toBe(0);
});
