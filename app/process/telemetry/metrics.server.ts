import cluster from "node:cluster";
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, register } from "@prometheus-io/client";
import { sameSecret } from "../crypto.server.ts";

// In seconds: from waits that nobody notices to waits that everybody takes for a failure.
const waits = [0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60];

/** Measures the process itself, too: memory, processor time, event loop. Called once a process. */
export function measureProcess(): void {
  collectDefaultMetrics();
  // Tells the process that has started this one that this one can be asked for its metrics.
  if (cluster.isWorker) new AggregatorRegistry();
}

/** Requests by the route that answers them, never by address: there are as many addresses as chats. */
export const requestSeconds = new Histogram({
  name: "tertulia_request_seconds",
  help: "Time until a response began, in seconds, by route and status.",
  labelNames: ["method", "route", "status"] as const,
  buckets: waits,
});
export const repliesEnded = new Counter({
  name: "tertulia_replies_total",
  help: "Replies that have ended, by model and how they ended.",
  labelNames: ["model", "status"] as const,
});
export const firstTokenSeconds = new Histogram({
  name: "tertulia_reply_first_token_seconds",
  help: "Time from the start of a reply to its first thought or word, in seconds, by model.",
  labelNames: ["model"] as const,
  buckets: waits,
});
export const tokenRate = new Histogram({
  name: "tertulia_reply_tokens_per_second",
  help: "Tokens a second, from a reply's first thought or word to its end, by model.",
  labelNames: ["model"] as const,
  buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
});
export const tokens = new Counter({
  name: "tertulia_tokens_total",
  help: "Tokens that models have been given and have written.",
  labelNames: ["model", "kind"] as const,
});
export const cost = new Counter({
  name: "tertulia_cost_total",
  help: "What replies have cost, in the currency of the models' prices.",
  labelNames: ["model"] as const,
});

/** `aggregator`: how the values of several processes behind one port are combined. */
type Gauged = { help: string; value(): number | Promise<number>; aggregator?: "sum" | "min" };

/** Gauges whose values are computed when they are read. Names without `tertulia_`. */
export function watch(gauges: Record<string, Gauged>): void {
  for (const [name, { help, value, aggregator = "sum" }] of Object.entries(gauges)) {
    register.removeSingleMetric(`tertulia_${name}`);
    new Gauge({
      name: `tertulia_${name}`,
      help,
      aggregator,
      async collect() {
        this.set(await value());
      },
    });
  }
}

/** Answers GET /metrics in Prometheus' text format: 404 without METRICS_TOKEN, 401 without it in the request. */
export async function answerMetrics(request: Request, token: string | undefined): Promise<Response> {
  if (!token) return new Response("no", { status: 404 });
  const given = /^Bearer (.+)$/i.exec(request.headers.get("Authorization") ?? "")?.[1] ?? "";
  if (!sameSecret(given, token)) {
    return new Response("no", { status: 401, headers: { "WWW-Authenticate": "Bearer" } });
  }
  return new Response(await (cluster.isWorker ? ofAllWorkers() : register.metrics()), {
    headers: { "Content-Type": register.contentType, "Cache-Control": "no-store" },
  });
}

/** A worker's question to its starter, and the answer. */
export const metricsWanted = "metrics";
export type AllMetrics = { metrics: string };

/** Asks the process that has started the workers, which asks each of them: a request reaches only one worker. */
function ofAllWorkers(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const hear = (message: unknown) => {
    const { metrics }: Partial<AllMetrics> = Object(message);
    if (metrics === undefined) return;
    process.off("message", hear);
    resolve(metrics);
  };
  process.on("message", hear);
  process.send?.(metricsWanted);
  return promise;
}
