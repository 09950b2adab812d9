import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { ReplyError } from "../../app/replies/errors.server.ts";
import type { ModelAccess, Options, Piece } from "../../app/replies/providers/model-call.server.ts";
import { generate } from "../../app/replies/providers/providers.server.ts";
import { ToolCalls } from "../../app/replies/providers/tool-calls.server.ts";

/** Expected reading of an answer. `error` is a pattern of the sentence; of a call, `raw` is its input as text. */
export type Reading = {
  text?: string;
  thought?: string;
  reason?: string;
  note?: string;
  error?: string;
  kind?: string;
  images?: number;
  outputTokens?: number | null;
  calls?: { name: string; input?: object; raw?: string }[];
  citations?: [number, string][];
};

/** An answer of a model server as it was sent, from a file of `answers/`: a head, a blank line, the body. */
export type Recorded = {
  name: string;
  server: string;
  provider: ModelAccess["provider"];
  status: number;
  type: string;
  reads: Reading;
  body: string;
};

const folder = join(import.meta.dirname, "answers");

export const recorded: Recorded[] = readdirSync(folder)
  .sort()
  .map((file) => {
    const whole = readFileSync(join(folder, file), "utf8");
    const at = whole.indexOf("\n\n");
    const head = Object.fromEntries(
      whole
        .slice(0, at)
        .split("\n")
        .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
    ) as Record<string, string>;
    return {
      name: file.replace(/\.txt$/, ""),
      server: head.server ?? "",
      provider: (head.provider ?? "openai-compatible") as Recorded["provider"],
      status: Number(head.status),
      type: head.type ?? "",
      reads: JSON.parse(head.reads ?? "{}") as Reading,
      body: whole.slice(at + 2),
    };
  });

type Sent = { status: number; type: string; pieces: (string | Buffer)[] };

/** A model server that sends what it is told to, to whatever it is asked. `asked`: the bodies of the requests. */
export async function startRecorded() {
  let answers: Sent[] = [];
  const asked: { path: string; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    // Asked for beside the replies, at any moment.
    if (body.includes("Pon título")) return void response.writeHead(500).end();
    asked.push({ path: request.url ?? "", body });
    const { status, type, pieces } = (answers.length > 1 ? answers.shift() : answers[0]) as Sent;
    response.writeHead(status, type ? { "Content-Type": type } : {});
    for (const piece of pieces) if (piece.length > 0) response.write(piece);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    /** One after the other; the last one for all that follows. */
    answer(...given: (Sent | Recorded)[]) {
      asked.length = 0;
      answers = given.map((one) => ("pieces" in one ? one : { ...one, pieces: [one.body] }));
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

let models = 0;

/** A model at an address; each is another one, so that nothing is known of it yet. */
export const modelAt = (url: string, provider: ModelAccess["provider"] = "openai-compatible"): ModelAccess => ({
  id: `modelo-${++models}`,
  updatedAt: 0,
  provider,
  externalId: `x-${models}`,
  baseUrl: provider === "ollama" ? url : `${url}/v1`,
  apiKey: "clave",
  maxOutputTokens: 100,
  temperature: null,
  reasoning: null,
  pseudonyms: 0,
  refused: "",
});

export const tools = ["tiempo", "hora"].map((name) => ({
  type: "function" as const,
  name,
  description: "",
  inputSchema: { type: "object" as const, properties: {} },
}));

const prompt = { system: "", turns: [{ role: "user" as const, content: "Hola" }] };

/** Reading of a model's answer, also where it fails. */
export async function readingOf(model: ModelAccess, more: Partial<Options> = {}): Promise<Reading> {
  let text = "";
  let thought = "";
  let end: Extract<Piece, { type: "finish" }> | undefined;
  const calls = new ToolCalls();
  let images = 0;
  let failure: ReplyError | undefined;
  try {
    const options = { signal: AbortSignal.timeout(20_000), silence: 5_000, tools, ...more };
    for await (const piece of generate(model, prompt, options)) {
      calls.take(piece);
      if (piece.type === "text") text += piece.text;
      else if (piece.type === "reasoning") thought += piece.text;
      else if (piece.type === "mistaken") [text, thought] = ["", text];
      else if (piece.type === "image") images++;
      else if (piece.type === "finish") end = piece;
    }
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error;
    failure = error;
  }
  return {
    text,
    thought,
    images,
    calls: calls.list.map(({ name, input }) => ({ name, raw: input })),
    ...(end && {
      reason: end.reason,
      ...(end.note !== undefined && { note: end.note }),
      outputTokens: end.usage.outputTokens ?? null,
      citations: (end.citations ?? []).map(({ n, url }): [number, string] => [n, url]),
    }),
    ...(failure && { error: failure.message, kind: failure.kind ?? "" }),
  };
}
