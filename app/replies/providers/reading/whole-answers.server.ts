import { jsonIn, listOf, recordOf } from "../../../process/text/json.ts";
import { repairedMessageLine } from "./repaired-messages.server.ts";

type Fields = Record<string, unknown>;

const eventOf = (fields: Fields) => `data: ${JSON.stringify(fields)}`;
const streamOf = (events: string[]) => events.map((event) => `${event}\n\n`).join("");

/**
 * The event stream that an answer of one piece should have been, which some servers and proxies send although a stream was requested:
 * events under the type of JSON, or the JSON of any of the four protocols. Undefined for anything else.
 */
export function eventsOf(text: string): string | undefined {
  if (/^\s*(?:data|event):/.test(text)) return text;
  const value = jsonIn(text);
  const parts = (Array.isArray(value) ? value : [value]).map(recordOf).filter((part) => part !== undefined);
  // Gemini's stream without its `alt=sse` is a list.
  if (parts.some(({ candidates, promptFeedback }) => candidates ?? promptFeedback)) return streamOf(parts.map(eventOf));
  const whole = recordOf(value);
  if (!whole) return undefined;
  if (whole.type === "message" && Array.isArray(whole.content)) return streamOf(messageEvents(whole));
  if (whole.object === "response" && Array.isArray(whole.output) && whole.status !== "failed")
    return streamOf(responseEvents(whole));
  return completionEvents(whole);
}

/** A completion as its chunks. */
function completionEvents(whole: Fields): string | undefined {
  const [choice, ...others] = listOf(whole.choices).map(recordOf);
  const message =
    recordOf(choice?.message) ?? (typeof choice?.text === "string" ? { content: choice.text } : undefined);
  if (!choice || !message) return undefined;
  const chunk = (more: object) => eventOf({ ...whole, object: "chat.completion.chunk", ...more });
  const more = others.map((one) => ({ delta: one?.message, finish_reason: null }));
  return streamOf([
    chunk({ choices: [{ index: 0, delta: message, finish_reason: null }, ...more], usage: null }),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: choice.finish_reason || "stop" }] }),
    "data: [DONE]",
  ]);
}

/** A message of Anthropic's. */
function messageEvents({ content, stop_reason, stop_sequence, usage, ...message }: Fields): string[] {
  const blocks = listOf(content).flatMap((given, index) => {
    const block = recordOf(given);
    const signature = block?.type === "thinking" && block.signature;
    return [
      eventOf({ type: "content_block_start", index, content_block: block }),
      ...(signature
        ? [eventOf({ type: "content_block_delta", index, delta: { type: "signature_delta", signature } })]
        : []),
      eventOf({ type: "content_block_stop", index }),
    ];
  });
  const events = [
    eventOf({ type: "message_start", message: { ...message, content: [], usage } }),
    ...blocks,
    eventOf({ type: "message_delta", delta: { stop_reason: stop_reason ?? "end_turn", stop_sequence }, usage }),
    eventOf({ type: "message_stop" }),
  ];
  return events.map(repairedMessageLine);
}

/** A response of OpenAI's. */
function responseEvents(response: Fields): string[] {
  const items = listOf(response.output).flatMap((given, output_index) => {
    const item = recordOf(given);
    const texts =
      item?.type === "message"
        ? listOf(item.content)
            .map(recordOf)
            .map((part) => part?.text ?? part?.refusal)
        : [];
    return [
      eventOf({ type: "response.output_item.added", output_index, item }),
      ...texts.map((delta) => eventOf({ type: "response.output_text.delta", item_id: item?.id, output_index, delta })),
      eventOf({ type: "response.output_item.done", output_index, item }),
    ];
  });
  const type = response.status === "incomplete" ? "response.incomplete" : "response.completed";
  return [eventOf({ type: "response.created", response }), ...items, eventOf({ type, response })];
}
