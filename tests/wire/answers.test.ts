import { afterAll, beforeAll, expect, it } from "vitest";
import { modelAt, type Reading, readingOf, recorded, startRecorded } from "./recorded.ts";

let server: Awaited<ReturnType<typeof startRecorded>>;
beforeAll(async () => {
  server = await startRecorded();
});
afterAll(() => server.stop());

/** The reading that a file expects, in a form that can be compared with the real one. */
function expected({ error, note, calls, ...reads }: Reading): object {
  return {
    text: "",
    thought: "",
    ...reads,
    ...(error !== undefined ? { error: expect.stringMatching(new RegExp(error)) } : {}),
    ...(note !== undefined && { note: expect.stringContaining(note) }),
    ...(calls && {
      calls: calls.map(({ name, input, raw }) => ({ name, ...(raw === undefined ? { input } : { raw }) })),
    }),
  };
}

it.each(recorded)("$name: $server", async ({ provider, reads, ...answer }) => {
  server.answer({ ...answer, provider, reads });
  const read = await readingOf(modelAt(server.url, provider));
  const calls = read.calls?.map(({ name, raw = "" }) => ({ name, raw, input: JSON.parse(raw || "{}") as object }));
  expect({ ...read, calls }).toMatchObject(expected(reads));
  if (reads.error === undefined) expect(read.error).toBeUndefined();
});
