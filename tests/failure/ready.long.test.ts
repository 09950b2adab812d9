import { expect, it, onTestFinished } from "vitest";
import { sharedEngines } from "../support/engines.ts";
import { startServer } from "../support/server.ts";

it.each(await sharedEngines())(
  "says that it is not ready while its database is away, and ends all the same, on $name",
  async (engine) => {
    const database = await engine.open();
    const server = await startServer({ DATABASE_URL: database.url });
    onTestFinished(() => server.stop());
    const ask = async (path: string) => (await fetch(server.url + path)).status;
    expect([await ask("/health"), await ask("/ready")]).toEqual([200, 200]);
    await database.drop();
    expect([await ask("/health"), await ask("/ready")]).toEqual([200, 503]);
    expect(await server.end("SIGINT")).toBe(0);
  },
);
