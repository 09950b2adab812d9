import { once } from "node:events";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { FairQueue } from "../process/work/fair-queue.server.ts";
import { escapeHtml, type RenderEnv } from "./render.server.ts";
import type { RenderJob } from "./render.worker.ts";

// Time limit in ms. The longest regular reply, 400,000 characters, takes a third of it.
const longest = 1_500;
// In ms: an idle thread is ended after this time, to free its memory.
const idleAfter = 60_000;

// Two threads, at most one of them for each owner, so that one person's texts do not hold up the others.
const queue = new FairQueue(2);
/** Idle threads with the timers that will end them. */
const rested = new Map<Worker, NodeJS.Timeout>();

// In characters. Parsing needs up to 350 bytes for each, and a thread that runs out of memory ends the whole process (seen with
// Node 24), so no text may come near the memory limit.
const longestText = 500_000;
const memory = { maxOldGenerationSizeMb: 384 };

/**
 * Renders Markdown as safe HTML in a thread. A text that is too long or takes too long is returned as escaped plain text.
 * `owner`: key by which turns in the fair queue are shared.
 */
export async function renderInThread(source: string, env: RenderEnv, owner: string): Promise<string> {
  if (source.length > longestText) return plain(tooLong, source);
  return (await queue.run(owner, () => renderWithin(longest, { source, env }))) ?? plain(tooTangled, source);
}

/** Runs a job in a thread within `ms`. Returns undefined on a timeout or error, and ends that thread. */
export async function renderWithin(ms: number, job: RenderJob): Promise<string | undefined> {
  const worker = await take();
  const answer = Promise.withResolvers<string | undefined>();
  const timer = setTimeout(answer.resolve, ms, undefined);
  worker.once("message", answer.resolve);
  worker.once("error", () => answer.resolve(undefined));
  worker.postMessage(job);
  const html = await answer.promise;
  clearTimeout(timer);
  worker.removeAllListeners("message");
  worker.removeAllListeners("error");
  worker.on("error", () => {});
  if (html === undefined) void worker.terminate();
  else keep(worker);
  return html;
}

/** An idle thread, or a new one once it has loaded its modules: loading does not count against the time limit. */
async function take(): Promise<Worker> {
  const [kept] = rested.keys();
  if (kept) {
    clearTimeout(rested.get(kept));
    rested.delete(kept);
    return kept;
  }
  // Beside this module, both in the source and in the build.
  const program = new URL(`./render.worker${extname(import.meta.filename)}`, import.meta.url);
  const worker = new Worker(program, { resourceLimits: memory });
  await once(worker, "message");
  worker.unref();
  return worker;
}

function keep(worker: Worker): void {
  const closing = setTimeout(() => {
    rested.delete(worker);
    void worker.terminate();
  }, idleAfter);
  rested.set(worker, closing.unref());
}

const tooLong = "Este texto es demasiado largo para darle formato.";
const tooTangled = "Este texto es demasiado enrevesado para darle formato.";

const plain = (why: string, source: string) =>
  `<p><em>${why}</em></p><pre tabindex="0"><code>${escapeHtml(source)}</code></pre>`;
