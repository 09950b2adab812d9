import { traceHeaders } from "../../process/telemetry/request-trace.server.ts";
import { changedLines } from "../../process/text/changed-lines.server.ts";
import { recordOf } from "../../process/text/json.ts";
import { ToolRefused } from "../tool.server.ts";
import { type Asked, repairedAnswer } from "./repaired.server.ts";

// Bytes of one answer, a stream of events included: images in it are in base64.
const most = 8 * 1024 * 1024;

/**
 * `fetch` for servers of tools: an answer ends with an error beyond 8 MB, so that no server fills the memory, and is put right before the
 * client's library reads it. A lost session is always told as 404.
 */
export const boundedFetch: typeof fetch = async (input, init) => {
  const headers = new Headers(init?.headers);
  for (const [name, value] of Object.entries(traceHeaders())) headers.set(name, value);
  const answer = await fetch(input, { ...init, headers });
  if (!answer.body) return answer;
  const reader = answer.body.getReader();
  let bytes = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        bytes += value.length;
        if (bytes <= most) return controller.enqueue(value);
        controller.error(new ToolRefused("La herramienta ha contestado con más de 8 MB."));
        await reader.cancel();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  const asked = askedIn(init?.body);
  const hasSession = headers.has("mcp-session-id");
  const type = answer.headers.get("Content-Type") ?? "";
  // A refusal is read whole, also where it is a stream of one event.
  if (answer.ok && /event-stream/.test(type)) return new Response(body.pipeThrough(repairedEvents(asked)), answer);
  const text = longNumbersAsTexts(await new Response(body).text());
  const message = parsed(text);
  if (hasSession && isLost(answer.status, message, text)) return new Response(text, { ...told(answer), status: 404 });
  // Other JSON comes from servers of sign-in, by the same way.
  const isAnswer = answer.ok && message !== undefined && asked.method !== undefined;
  if (!isAnswer) return new Response(text, told(answer));
  const right = new Response(JSON.stringify(allRepaired(message, asked)), told(answer));
  // The library reads no JSON that is told as something else, or as nothing.
  if (!/json/i.test(type)) right.headers.set("Content-Type", "application/json");
  return right;
};

const told = ({ status, statusText, headers }: Response) => ({ status, statusText, headers });

/** The request that a body holds. */
function askedIn(body: unknown): Asked {
  const { id, method } = recordOf(parsed(String(body ?? ""))) ?? {};
  return {
    id: typeof id === "string" || typeof id === "number" ? id : undefined,
    method: typeof method === "string" ? method : undefined,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Whether an answer says that the session is not known any more: the protocol has 404 for it, servers also other refusals, or an error.
 * A server that fails may have made the call before.
 */
function isLost(status: number, message: unknown, text: string): boolean {
  if (status >= 500 || status === 429) return false;
  if (status < 400) return saysLost(String(recordOf(recordOf(message)?.error)?.message ?? ""));
  const said = text.slice(0, 2_000);
  return neverBegun.test(said) || (/session/i.test(said) && lostWords.test(said));
}

const neverBegun = /server not initialized|expect initialize request/i;
const lostWords = /not found|no valid|invalid|expired|unknown|terminated|does not exist/i;

/** Whether the message of an error is about the session alone: a call that was made may fail on another session, such as one of mail. */
export function saysLost(message: string): boolean {
  const said = message
    .slice(0, 300)
    .replace(/^(?:MCP error -?\d+: |(?:JSON-RPC error|Bad request|Unauthorized|Error): )+/i, "");
  if (/^(?:server not initialized|unexpected message, expect initialize request)/i.test(said)) return true;
  if (/^(?:missing (?:mcp[- ])?session[-_ ]?(?:id|header)|transport not found for session)/i.test(said)) return true;
  const isOfSession =
    /^(?:(?:the |your )?(?:mcp[- ])?session(?:[-_ ]?id)?\b|(?:no valid|invalid|unknown|expired) .{0,20}session)/i;
  return isOfSession.test(said) && lostWords.test(said);
}

const allRepaired = (message: unknown, asked: Asked): unknown =>
  Array.isArray(message) ? message.map((one) => repairedAnswer(one, asked)) : repairedAnswer(message, asked);

/**
 * Puts the messages of a stream of events right. A stream that ends without the answer, and that can't be taken up again, is told as an
 * error: the library would wait until the call's time is over.
 */
function repairedEvents(asked: Asked): TransformStream<Uint8Array, Uint8Array> {
  let isAnswered = asked.id === undefined;
  const change = (line: string) => {
    // An event with an id can be asked for again.
    if (line.startsWith("id:")) isAnswered = true;
    if (!line.startsWith("data:")) return line;
    const json = longNumbersAsTexts(line.slice("data:".length).trim());
    const message = parsed(json);
    if (message === undefined) return `data: ${json}`;
    const all = allRepaired(message, asked);
    isAnswered ||= [all].flat().some((one) => recordOf(one)?.id === asked.id && recordOf(one)?.method === undefined);
    return `data: ${JSON.stringify(all)}`;
  };
  const error = { code: -32000, message: "Ha cortado la conexión sin contestar" };
  const told = `\n\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: asked.id, error })}\n\n`;
  return changedLines(change, () => (isAnswered ? "\n\n" : told));
}

/**
 * JSON whose numbers of more than 15 digits, such as ids, are texts: the client's library would read others than the server has sent.
 */
const longNumbersAsTexts = (json: string): string =>
  !/[:[,]\s*-?\d[\d.]{15}/.test(json)
    ? json
    : // A string without an end matches up to the end of the JSON: looking for another beginning in it would take quadratic time.
      json.replace(/"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|-?\d[\d.]{15,}(?:[eE][+-]?\d+)?/g, (found) =>
        found.startsWith('"') ? found : `"${found}"`,
      );
