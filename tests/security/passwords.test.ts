import { availableParallelism } from "node:os";
import { expect, it, onTestFinished, vi } from "vitest";
import { checkPassword } from "../../app/api/auth/passwords.server.ts";
import { openApi } from "../support/api.ts";
import { sqlite } from "../support/engines.ts";
import { password } from "../support/password.ts";

const underway = vi.hoisted(() => ({ now: 0, most: 0, costs: [] as string[] }));
// The real one, counted, with the cost that each hash says of itself.
vi.mock("@node-rs/argon2", async (original) => {
  const argon2 = await original<typeof import("@node-rs/argon2")>();
  return {
    ...argon2,
    async verify(...given: Parameters<typeof argon2.verify>) {
      underway.most = Math.max(underway.most, ++underway.now);
      underway.costs.push(/\$m=[^$]+/.exec(String(given[0]))?.[0] ?? "");
      return argon2.verify(...given).finally(() => underway.now--);
    },
  };
});
it("are hashed one per core at most, others refused [pLimit]", async () => {
  const checks = await Promise.allSettled(
    Array.from({ length: 501 + 2 * availableParallelism() }, () => checkPassword(undefined, "cualquiera")),
  );
  expect(underway.most).toBe(availableParallelism());
  const away = checks.flatMap((check) => (check.status === "rejected" ? [check.reason] : []));
  expect(away.length).toBeGreaterThan(0);
  for (const { status, message } of away)
    expect([status, message]).toEqual([503, expect.stringMatching(/demasiada gente/)]);
});

it("get equal answers and cost for unknown addresses [nobody's hash]", async () => {
  const api = await openApi(sqlite);
  onTestFinished(() => api.close());
  const { email } = await api.signUp();
  const ask = async (email: string) => {
    underway.costs.length = 0;
    const json = { email, password: `no ${password}` };
    const { status, body } = await api.call("POST", "/auth/signin", { json });
    const { requestId: _, ...said } = body as { requestId: string };
    return { status, said, costs: [...underway.costs] };
  };
  const known = await ask(email);
  expect(known.costs).toEqual([expect.stringMatching(/^\$m=\d+,t=\d+,p=1$/)]);
  expect(await ask(`no-${email}`)).toEqual(known);
});
