import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { repaired } from "../../app/tools/mcp/repaired.server.ts";
import { outcomeOf } from "../../app/tools/mcp/result.server.ts";
import { type Api, openApi } from "../support/api.ts";
import { sqlite } from "../support/engines.ts";
import { modelAt, readingOf, recorded, startRecorded } from "./recorded.ts";

let server: Awaited<ReturnType<typeof startRecorded>>;
const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);
beforeAll(async () => {
  server = await startRecorded();
  process.on("unhandledRejection", note);
});
afterAll(async () => {
  process.off("unhandledRejection", note);
  await server.stop();
});

const odd = fc.oneof(
  fc.constantFrom(null, true, -1, 1.5, 1e300, 2 ** 53, "", "12", "\u0000", "\ud83d", [], {}, [null], { a: [] }),
  fc.jsonValue({ maxDepth: 2 }),
);

type Way = { kind: "as it is" | "cut" | "lost" | "changed" | "doubled" | "noise"; at: number; value: unknown };
const way: fc.Arbitrary<Way> = fc.record({
  kind: fc.constantFrom("as it is", "cut", "lost", "changed", "doubled", "noise"),
  at: fc.nat(10_000),
  value: odd,
});

/** The values in a JSON text, each by the object and the key that it stands under. */
function places(value: unknown): { holder: Record<string, unknown>; key: string }[] {
  if (value === null || typeof value !== "object") return [];
  const holder = value as Record<string, unknown>;
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...places(holder[key])]);
}

function parsedOf(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // Spoilt by an earlier way.
    return undefined;
  }
}

/** One line of an answer with a field lost or of another type. */
function hurt(line: string, { kind, at, value }: Way): string {
  const [, head = "", json = ""] = /^(data: ?|)(\{.*\})$/.exec(line) ?? [];
  if (!json) return line;
  const parsed = parsedOf(json);
  const all = places(parsed);
  const place = all[at % Math.max(1, all.length)];
  if (!place) return line;
  if (kind === "lost") delete place.holder[place.key];
  else place.holder[place.key] = value;
  return head + JSON.stringify(parsed);
}

function spoilt(body: string, ways: Way[]): string {
  let text = body;
  for (const one of ways) {
    const lines = text.split("\n");
    const n = one.at % lines.length;
    if (one.kind === "cut") text = text.slice(0, one.at % (text.length + 1));
    else if (one.kind === "doubled") text = [...lines.slice(0, n), lines[n], ...lines.slice(n)].join("\n");
    else if (one.kind === "noise") text = text.slice(0, n) + JSON.stringify(one.value) + text.slice(n);
    else if (one.kind !== "as it is") text = lines.map((line, at) => (at === n ? hurt(line, one) : line)).join("\n");
  }
  return text;
}

/** A text in pieces, cut at any byte. */
function inPieces(text: string, cuts: number[]): Buffer[] {
  const bytes = Buffer.from(text);
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, n) => bytes.subarray(at[n], end));
}

const answer = fc.record({
  of: fc.constantFrom(...recorded),
  ways: fc.array(way, { maxLength: 4 }),
  cuts: fc.array(fc.nat(100_000), { maxLength: 6 }),
});

it("ends any model server answer with text or an error", async () => {
  await fc.assert(
    fc.asyncProperty(answer, async ({ of, ways, cuts }) => {
      server.answer({ status: of.status, type: of.type, pieces: inPieces(spoilt(of.body, ways), cuts) });
      const read = await readingOf(modelAt(server.url, of.provider), { silence: 3_000 });
      expect(read.error === undefined || /^[A-ZÁÉÍÓÚ«].*\.$/s.test(read.error)).toBe(true);
      expect(read.text?.isWellFormed()).toBe(true);
    }),
    { numRuns: 1_500 },
  );
  expect(unhandled).toEqual([]);
});

it("reads an answer the same wherever its pieces are cut", async () => {
  await fc.assert(
    fc.asyncProperty(answer, async ({ of, cuts }) => {
      const sent = { status: of.status, type: of.type };
      server.answer({ ...sent, pieces: [of.body] });
      const whole = await readingOf(modelAt(server.url, of.provider));
      server.answer({ ...sent, pieces: inPieces(of.body, cuts) });
      expect(await readingOf(modelAt(server.url, of.provider))).toEqual(whole);
    }),
    { numRuns: 300 },
  );
});

it("stores a finished reply whatever the model server sends", async () => {
  const api: Api = await openApi(sqlite, { modelSilence: 3_000 });
  // One person may send 120 messages a minute.
  const accounts = [await api.signUp("Admin"), await api.signUp("Ana"), await api.signUp("Bea")];
  const token = accounts[0]?.token ?? "";
  let asked = 0;
  const models = new Map<string, string>();
  for (const provider of new Set(recorded.map((one) => one.provider))) {
    const json = {
      name: provider,
      provider,
      externalId: "x",
      baseUrl: modelAt(server.url, provider).baseUrl,
      apiKey: "clave",
    };
    models.set(provider, ((await api.call("POST", "/api/model", { token, json })).body as { id: string }).id);
  }
  await api.db.updateTable("subscriptions").set({ messagesPerDay: 1_000_000, tokensPerMonth: 2_000_000_000 }).execute();
  await fc.assert(
    fc.asyncProperty(answer, async ({ of, ways, cuts }) => {
      server.answer({ status: of.status, type: of.type, pieces: inPieces(spoilt(of.body, ways), cuts) });
      const modelId = models.get(of.provider);
      const chunks = await api.converse(accounts[asked++ % accounts.length]?.token ?? "", { content: "Hola", modelId });
      expect(chunks.some(({ type }) => type === "end")).toBe(true);
    }),
    { numRuns: 200 },
  );
  await expect
    .poll(() => api.db.selectFrom("messages").where("status", "=", "streaming").select("id").execute())
    .toEqual([]);
  expect(unhandled).toEqual([]);
  await api.close();
});

it("handles any answer of a tool server, keeping valid tools", async () => {
  const block = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.record(
      {
        type: fc.constantFrom("text", "image", "audio", "resource", "resource_link", "hologram"),
        text: odd,
        data: odd,
        resource: odd,
        uri: odd,
      },
      { requiredKeys: [] },
    ),
  );
  fc.assert(
    fc.property(fc.array(block), odd, odd, (content, structuredContent, isError) => {
      const message = { result: { content, structuredContent, isError } };
      const { text } = outcomeOf(repaired(message).result as never) as { text: string };
      expect(typeof text).toBe("string");
    }),
    { numRuns: 2_000 },
  );
  const tool = fc.record(
    { name: odd, inputSchema: odd, description: odd, annotations: odd, title: odd },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(tool), odd, (tools, nextCursor) => {
      const { result } = repaired({ result: { tools: [...tools, { name: "buena" }], nextCursor } });
      expect((result as unknown as { tools: { name: string }[] }).tools.at(-1)?.name).toBe("buena");
    }),
    { numRuns: 2_000 },
  );
});

it("what is nested without end costs itself alone", () => {
  const deep = JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`) as unknown;
  const content = [deep, { type: "text", text: "Hola" }];
  const outcome = outcomeOf(repaired({ result: { content, structuredContent: { deep } } }).result as never);
  expect(outcome).toMatchObject({ text: expect.stringContaining("Hola") });
  const listed = repaired({
    result: { tools: [{ name: "honda", inputSchema: { properties: { deep } } }, { name: "buena" }] },
  });
  expect((listed.result.tools as { name: string }[]).map(({ name }) => name)).toEqual(["buena"]);
});

it("ends a reply with a deeply nested chunk", async () => {
  const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
  const chunk = `{"choices":[{"index":0,"delta":{"content":"Hola.","reasoning_details":[${deep}]},"finish_reason":"stop"}]}`;
  server.answer({ status: 200, type: "text/event-stream", pieces: [`data: ${chunk}\n\ndata: [DONE]\n\n`] });
  const read = await readingOf(modelAt(server.url));
  expect(read.text === "Hola." || read.error !== undefined).toBe(true);
});
