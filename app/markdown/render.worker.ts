import { parentPort } from "node:worker_threads";
import { type RenderEnv, renderMarkdown } from "./render.server.ts";

export type RenderJob = { source: string; env: RenderEnv };

// Tells the parent that loading is over; the time limit of a text starts after that.
parentPort?.postMessage("ready");

parentPort?.on("message", ({ source, env }: RenderJob) =>
  parentPort?.postMessage(renderMarkdown(source, { ...env, inThread: true })),
);
