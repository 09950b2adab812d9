import { listOf, recordOf } from "../../../process/text/json.ts";

type Fields = Record<string, unknown>;

/**
 * A line of the stream of Anthropic's messages (docs.anthropic.com/en/api/messages-streaming) as the provider's library reads it: servers
 * that imitate it leave counts out or give null, and send the first words of a block at its beginning. Other lines are returned as they are.
 */
export function repairedMessageLine(line: string): string {
  if (!/^data:.*(?:message_start|message_delta|content_block_start)/.test(line)) return line;
  const event = parsed(line.slice("data:".length));
  if (!event) return line;
  const message = recordOf(event.message);
  if (event.type === "message_start" && message) {
    // The library takes nothing but calls here.
    const content = listOf(message.content).filter((block) => recordOf(block)?.type === "tool_use");
    return dataOf({
      ...event,
      message: { ...message, content, usage: countsOf(message.usage, ["input_tokens", "output_tokens"]) },
    });
  }
  if (event.type === "message_delta") {
    return dataOf({ ...event, delta: recordOf(event.delta) ?? {}, usage: countsOf(event.usage, ["output_tokens"]) });
  }
  const block = recordOf(event.content_block);
  if (event.type !== "content_block_start" || !block) return line;
  const start = (more: Fields) => dataOf({ ...event, content_block: { ...block, ...more } });
  if (block.type === "tool_use") return start({ input: recordOf(block.input) ?? {} });
  const { index } = event;
  const added = (delta: Fields) =>
    `\n\nevent: content_block_delta\n${dataOf({ type: "content_block_delta", index, delta })}`;
  if (block.type === "text" && block.text) return start({ text: "" }) + added({ type: "text_delta", text: block.text });
  if (block.type === "thinking" && block.thinking)
    return start({ thinking: "" }) + added({ type: "thinking_delta", thinking: block.thinking });
  return line;
}

const dataOf = (event: Fields) => `data: ${JSON.stringify(event)}`;

/** Counts of tokens without those that are null; 0 for the ones that the library needs. */
function countsOf(given: unknown, needed: string[]): Fields {
  const known = Object.entries(recordOf(given) ?? {}).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(needed.map((name) => [name, 0])), ...Object.fromEntries(known) };
}

function parsed(json: string): Fields | undefined {
  try {
    return recordOf(JSON.parse(json));
  } catch {
    return undefined;
  }
}
