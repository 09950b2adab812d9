import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { BodyRefused, boundedBody } from "../../app/http/bounded-body.server.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const bounds = { maxSize: 1_000, stranger: "203.0.113.7" };
const request = (body: BodyInit) =>
  new Request("http://x/auth/signin", { method: "POST", body, duplex: "half" } as RequestInit);
const endless = () =>
  request(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1)) }, { highWaterMark: 0 }));
const whole = async (one: Request, how = bounds) => {
  const pieces: Uint8Array[] = [];
  for await (const piece of boundedBody(one, how)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
};

it("slow request bodies do not block others at the address", async () => {
  const slow = Array.from({ length: 20 }, () => boundedBody(endless(), bounds));
  for (const body of slow) expect((await body.next()).done).toBe(false);
  // All of them have just begun: that is a flood, whose newest is refused.
  await expect(whole(request("correo=ana"))).rejects.toMatchObject({ reason: "many" });
  expect(await whole(request("correo=ana"), { ...bounds, stranger: "203.0.113.8" })).toBe("correo=ana");
  vi.setSystemTime(Date.now() + 1_500);
  expect(await whole(request("correo=ana"))).toBe("correo=ana");
  // The oldest gave its place; the others go on.
  await expect(slow[0]?.next()).rejects.toMatchObject({ reason: "slow" });
  expect((await slow[1]?.next())?.done).toBe(false);
  for (const body of slow) await body.return(undefined).catch((error) => expect(error).toBeInstanceOf(BodyRefused));
  const again = Array.from({ length: 20 }, () => boundedBody(endless(), bounds));
  for (const body of again) expect((await body.next()).done).toBe(false);
  for (const body of again) await body.return(undefined);
});
