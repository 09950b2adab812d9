import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

type Said = { role: string; content: string; tool_calls?: unknown[] };
type Call = { name: string; input: { texto?: string }; times?: number };

/** A question that has `startWritingModel` call a tool; `times`: how often its text is repeated. */
export const makes = (name: string, input: object, times = 1) => makesAll([{ name, input, times }]);

/** The same with several calls in one answer. */
export const makesAll = (calls: Call[]) => `Por favor, llama ${JSON.stringify(calls)}`;

/** A question that has `startWritingModel` say a text. */
export const says = (text: string) => `Por favor, di ${JSON.stringify(text)}`;

function textIn(question: string): string | undefined {
  try {
    return JSON.parse(question.slice(question.lastIndexOf('di "') + 3)) as string;
  } catch {
    return undefined;
  }
}

/** The calls that a question asks for; undefined where it asks for none, as when it is told to give a title. */
function callsIn(question: string): Call[] | undefined {
  try {
    return JSON.parse(question.slice(question.lastIndexOf("llama [") + 6)) as Call[];
  } catch {
    return undefined;
  }
}

/**
 * A model server that calls what the question asks for (`makes`), and then says what came of it; or says a text (`says`). Texts and the input
 * of a call come in three pieces; before the third it waits for `gate`. `asked`: the messages of each request.
 */
export async function startWritingModel() {
  const asked: Said[][] = [];
  const state: { gate: Promise<void> | undefined } = { gate: undefined };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    if (request.url?.endsWith("/models")) return response.end(JSON.stringify({ data: [{ id: "escribano" }] }));
    const { messages = [] } = JSON.parse(body || "{}") as { messages?: Said[] };
    asked.push(messages);
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const send = (delta: object, finish_reason: string | null = null) =>
      response.write(`data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
    const last = messages.at(-1);
    const wanted = callsIn(messages.findLast(({ role }) => role === "user")?.content ?? "");
    const text = textIn(messages.findLast(({ role }) => role === "user")?.content ?? "");
    if (text !== undefined) {
      const third = Math.ceil(text.length / 3);
      for (const at of [0, third, 2 * third]) {
        send({ content: text.slice(at, at + third) });
        if (at === third) await state.gate;
      }
      send({}, "stop");
      return response.end("data: [DONE]\n\n");
    }
    if (!wanted || last?.role === "tool") {
      const results = messages.flatMap(({ role, content }) => (role === "tool" ? content : []));
      send({ content: `Hecho. ${results.join(" | ")}` });
      send({}, "stop");
      return response.end("data: [DONE]\n\n");
    }
    for (const [index, { name, input, times = 1 }] of wanted.entries()) {
      const json = JSON.stringify({ ...input, ...(input.texto && { texto: input.texto.repeat(times) }) });
      const call = (part: object) => send({ tool_calls: [{ index, ...part }] });
      call({ id: `call_${index}`, type: "function", function: { name, arguments: "" } });
      const third = Math.ceil(json.length / 3);
      for (const at of [0, third, 2 * third]) {
        call({ function: { arguments: json.slice(at, at + third) } });
        if (at === third && index === 0) await state.gate;
      }
    }
    send({}, "tool_calls");
    response.end("data: [DONE]\n\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    /** Holds what is written from now on, until it is let go. */
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      state.gate = promise;
      return () => {
        state.gate = undefined;
        resolve();
      };
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
