import { availableParallelism } from "node:os";
import { expect, it, onTestFinished, vi } from "vitest";
import { checkPassword } from "../../app/api/auth/passwords.server.ts";
import { Browser } from "../support/browser.ts";
import { startServer } from "../support/server.ts";

const underway = vi.hoisted(() => ({ now: 0, most: 0 }));
// The real one, counted.
vi.mock("@node-rs/argon2", async (original) => {
  const argon2 = await original<typeof import("@node-rs/argon2")>();
  return {
    ...argon2,
    async verify(...given: Parameters<typeof argon2.verify>) {
      underway.most = Math.max(underway.most, ++underway.now);
      return argon2.verify(...given).finally(() => underway.now--);
    },
  };
});

it("are hashed at most as many at once as there are cores; more than can wait are sent away [pLimit]", async () => {
  const checks = await Promise.allSettled(
    Array.from({ length: 501 + 2 * availableParallelism() }, () => checkPassword(undefined, "cualquiera")),
  );
  expect(underway.most).toBe(availableParallelism());
  const away = checks.flatMap((check) => (check.status === "rejected" ? [check.reason] : []));
  expect(away.length).toBeGreaterThan(0);
  for (const { status, message } of away)
    expect([status, message]).toEqual([503, expect.stringMatching(/demasiada gente/)]);
}, 60_000);

it("are asked for in the same words and time where there is such an address and where there is none [nobody's hash]", async () => {
  const server = await startServer();
  onTestFinished(() => server.stop());
  const known: string[] = [];
  for (let n = 0; n < 15; n++) known.push(await new Browser(server.url).signUp());
  const ask = async (email: string) => {
    const began = performance.now();
    const headers = { "Content-Type": "application/json" };
    const body = JSON.stringify({ email, password: "otra frase larga y rara" });
    const answer = await fetch(`${server.url}/v1/auth/signin`, { method: "POST", headers, body });
    const { requestId: _, ...said } = (await answer.json()) as { requestId: string };
    return { said: { status: answer.status, ...said }, took: performance.now() - began };
  };
  const took = { known: [] as number[], unknown: [] as number[] };
  for (const email of known) {
    const there = await ask(email);
    const not = await ask(`no-${email}`);
    expect(there.said).toEqual(not.said);
    took.known.push(there.took);
    took.unknown.push(not.took);
  }
  // A hash takes ten times as long as all the rest; the fastest is what nothing else has held up.
  const ratio = Math.min(...took.known) / Math.min(...took.unknown);
  expect(ratio).toBeGreaterThan(0.5);
  expect(ratio).toBeLessThan(2);
}, 60_000);
