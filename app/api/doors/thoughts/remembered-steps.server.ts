import { createHash } from "node:crypto";
import { objectOf } from "../../../process/text/json.ts";
import type { ToolCall } from "../../../replies/providers/model-call.server.ts";
import type { ToolCalls } from "../../../replies/providers/tool-calls.server.ts";
import type { ProviderMeta, Thought } from "../../../replies/tools/call.ts";
import type { Said } from "../door-request.server.ts";

/** Data that a provider wants back with a call, and with the thoughts before it. */
type Kept = { meta?: ProviderMeta; thoughts?: Thought[]; size: number; until: number };
/** The person who asks by a program, and the model that answers. */
export type Asker = { userId: string; modelId: string };

// In ms: a program carries out a call within this time.
const keptFor = 3_600_000;
// In characters, of all calls in this process; an entry itself takes about as much as so many.
const keptAtMost = 30_000_000;
const entrySize = 400;

// In the order in which they were made.
const kept = new Map<string, Kept>();
let size = 0;

/**
 * Keeps what a provider wants back with the calls of a step (Gemini's signatures, DeepSeek's thoughts): chat completions and Ollama's chat
 * have no place for it, and most programs would not send it back. In this process, for an hour.
 */
export function rememberStep(
  asker: Asker,
  { list, thoughts }: Pick<ToolCalls, "list" | "thoughts">,
  now = Date.now(),
): void {
  for (const [index, call] of list.entries()) {
    const own = index === 0 && thoughts.length > 0 ? { thoughts } : {};
    const data = { ...(call.meta && { meta: call.meta }), ...own };
    if (Object.keys(data).length === 0) continue;
    const until = now + keptFor;
    keep(nameOf(asker, call), { ...data, size: entrySize + JSON.stringify(data).length, until });
    keep(nameOf(asker, { ...call, id: "" }), { ...data, size: entrySize, until });
  }
  for (const [name, { until }] of kept) {
    if (until > now && size <= keptAtMost) break;
    forget(name);
  }
}

/** The conversation of a program, each call with the data that its provider wants back, where the program has not sent that itself. */
export function withRemembered(asker: Asker, said: Said[]): Said[] {
  if (kept.size === 0) return said;
  return said.map((one) => {
    if (one.role !== "assistant" || !one.calls?.length) return one;
    const found = one.calls.map(
      // Clients of Ollama's chat leave its id out, or replace it.
      (call) => kept.get(nameOf(asker, call)) ?? kept.get(nameOf(asker, { ...call, id: "" })),
    );
    const calls = one.calls.map((call, index) => {
      const meta = call.meta ?? found[index]?.meta;
      return meta ? { ...call, meta } : call;
    });
    const thoughts = one.thoughts?.length ? one.thoughts : found.flatMap((data) => data?.thoughts ?? []);
    return { ...one, calls, ...(thoughts.length > 0 && { thoughts }) };
  });
}

function keep(name: string, data: Kept): void {
  forget(name);
  kept.set(name, data);
  size += data.size;
}

function forget(name: string): void {
  size -= kept.get(name)?.size ?? 0;
  kept.delete(name);
}

/** Some servers number the calls of each answer from 0, so a call is known by all of it. */
function nameOf({ userId, modelId }: Asker, { id, name, input }: ToolCall): string {
  const said = JSON.stringify([userId, modelId, id, name, objectOf(input) ?? input]);
  return createHash("sha256").update(said).digest("base64");
}
