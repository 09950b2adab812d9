import type { Transport } from "@modelcontextprotocol/client";
import { cutText } from "../../process/text/cut-text.ts";
import { listOf, recordOf } from "../../process/text/json.ts";

type Fields = Record<string, unknown>;

/**
 * Has the client's library read what a server sends only after it was put right: the library refuses a whole list because of one odd
 * tool, and a whole result because of one odd block. Each piece that does not fit is put right, said in words, or left out. `takes`:
 * whether another message is read at all.
 */
export function tolerant<Kind extends Transport>(transport: Kind, takes: () => boolean): Kind {
  let take: Transport["onmessage"];
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: () =>
      take &&
      ((...[message, extra]: Parameters<NonNullable<typeof take>>) => takes() && take?.(repaired(message), extra)),
    set: (given: Transport["onmessage"]) => {
      take = given;
    },
  });
  return transport;
}

/** A message of JSON-RPC as the protocol wants it (modelcontextprotocol.io/specification, `tools/list` and `tools/call`). */
export function repaired<Message>(message: Message): Message {
  const given = (message as { result?: unknown }).result;
  if (given === undefined) return message;
  const { _meta, ...rest } = recordOf(given) ?? { content: [given] };
  const result: Fields = { ...rest, ...(recordOf(_meta) && { _meta }) };
  if ("tools" in result) return { ...message, result: listRepaired(result) };
  if ("content" in result || "structuredContent" in result || "isError" in result) {
    return { ...message, result: resultRepaired(result) };
  }
  return { ...message, result };
}

/** A request to a server of tools, as far as its answer is read by it. */
export type Asked = { id: string | number | undefined; method: string | undefined };

/** An answer of JSON-RPC to a request, with what servers write in other ways than the protocol has it put right. */
export function repairedAnswer(message: unknown, { id, method }: Asked): unknown {
  const fields = recordOf(message);
  if (!fields || fields.method !== undefined) return message;
  const { error, result, ...rest } = fields;
  // A server that has not understood the request does not know its id.
  const own = { ...rest, ...(rest.id == null && id !== undefined && { id }) };
  if (error != null) return { ...own, error: errorRepaired(error) };
  if (result === undefined) return message;
  const given = recordOf(result);
  if (given && "capabilities" in given) return { ...own, result: greetingRepaired(given) };
  if (method === "tools/call") return { ...own, result: recordOf(repaired({ result: calledResult(result) }))?.result };
  return repaired({ ...own, result });
}

function errorRepaired(error: unknown): Fields {
  const { code, message = error, data } = recordOf(error) ?? {};
  return {
    code: Number.isInteger(code) ? code : -32000,
    message: typeof message === "string" ? message : (written(message) ?? ""),
    ...(data !== undefined && { data }),
  };
}

/** A server that does not say that it has tools is asked for them all the same. */
function greetingRepaired({ capabilities, serverInfo, instructions, _meta, ...rest }: Fields): Fields {
  const known = Object.entries(recordOf(capabilities) ?? {}).filter(([, value]) => recordOf(value));
  const { name, version, ...about } = recordOf(serverInfo) ?? {};
  const text = (value: unknown) => (typeof value === "string" && value ? value : "?");
  return {
    ...rest,
    capabilities: { tools: {}, ...Object.fromEntries(known) },
    serverInfo: { ...about, name: text(name), version: text(version) },
    ...(typeof instructions === "string" && { instructions }),
    ...(recordOf(_meta) && { _meta }),
  };
}

/** The result of a call whose content is the result itself, or stands under the protocol's first name, `toolResult`. */
function calledResult(result: unknown): unknown {
  const fields = recordOf(result);
  if (!fields || ["content", "structuredContent", "isError", "inputRequests"].some((name) => name in fields))
    return result;
  const { _meta, toolResult, ...rest } = fields;
  const content = toolResult ?? (Object.keys(rest).length > 0 ? written(rest) : undefined);
  return { ...(recordOf(_meta) && { _meta }), content };
}

function listRepaired({ tools, nextCursor, ...rest }: Fields): Fields {
  const known = listOf(tools).map(recordOf).filter(isNamed).map(toolRepaired).filter(written);
  return { ...rest, tools: known, ...(typeof nextCursor === "string" && nextCursor && { nextCursor }) };
}

/** A value as JSON; undefined if it has thousands of levels, which are more than the stack takes. */
function written(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

const isNamed = (tool: Fields | undefined): tool is Fields & { name: string } =>
  typeof tool?.name === "string" && tool.name !== "";

/** Keeps the parts of a tool that are used here. `outputSchema` is left out: a result describes itself. */
function toolRepaired({ name, title, description, inputSchema, annotations, _meta }: Fields): Fields {
  const { ui, "ui/resourceUri": uri } = recordOf(_meta) ?? {};
  const hints = Object.entries(recordOf(annotations) ?? {}).filter(([, value]) =>
    ["boolean", "string"].includes(typeof value),
  );
  const { properties, required, ...schema } = recordOf(inputSchema) ?? {};
  const needed = listOf(required).filter((one) => typeof one === "string");
  return {
    name,
    inputSchema: {
      ...schema,
      type: "object",
      // PHP writes an empty object as a list.
      ...(recordOf(properties) && { properties }),
      ...(needed.length > 0 && { required: needed }),
    },
    ...(typeof title === "string" && { title }),
    ...(typeof description === "string" && { description }),
    ...((recordOf(ui) || typeof uri === "string") && { _meta: { ui, "ui/resourceUri": uri } }),
    annotations: Object.fromEntries(
      hints.filter(([hint, value]) => (hint === "title") === (typeof value === "string")),
    ),
  };
}

function resultRepaired({ content, structuredContent, isError, ...rest }: Fields): Fields {
  const blocks = Array.isArray(content) ? content : content === undefined || content === null ? [] : [content];
  const json = structuredContent == null ? undefined : (written(structuredContent) ?? tooDeep);
  const structured = json === tooDeep ? undefined : recordOf(structuredContent);
  const known = blocks.flatMap(blockRepaired);
  // The protocol allows no list or single value as a result, but its text is kept.
  if (!structured && json !== undefined && known.length === 0) known.push(said(json));
  return {
    ...rest,
    content: known,
    ...(structured && { structuredContent: structured }),
    ...((isError === true || isError === "true") && { isError: true }),
  };
}

const tooDeep = "(Un contenido con demasiados niveles, que no se puede enseñar.)";
const said = (text: string) => ({ type: "text", text });
// Characters of a block of an unknown kind that a model is told.
const unknownLength = 2_000;

function blockRepaired(given: unknown): Fields[] {
  if (given === null || given === undefined) return [];
  if (typeof given !== "object") return [said(String(given))];
  const block = recordOf(given) ?? {};
  const { type, text, data, mimeType, uri, name } = block;
  const has = (...values: unknown[]) => values.every((value) => typeof value === "string");
  if (type === "text" && typeof text === "string") return [said(text)];
  const base64 = base64In(data);
  if ((type === "image" || type === "audio") && base64) {
    return [{ type, data: base64, mimeType: has(mimeType) ? mimeType : type === "image" ? "image/png" : "audio/wav" }];
  }
  if (type === "resource_link" && has(uri)) {
    const { title, description } = block;
    return [
      {
        type,
        uri,
        name: has(name) ? name : uri,
        ...(has(title) && { title }),
        ...(has(description) && { description }),
      },
    ];
  }
  const resource = recordOf(block.resource);
  if (type === "resource" && resource) {
    const address = has(resource.uri) ? resource.uri : "";
    if (has(resource.text)) return [{ type, resource: { uri: address, text: resource.text } }];
    const blob = base64In(resource.blob);
    const ofType = has(resource.mimeType) && { mimeType: resource.mimeType };
    if (blob) return [{ type, resource: { uri: address, blob, ...ofType } }];
  }
  const kind = has(type) ? `del tipo «${type}»` : "sin tipo";
  const json = written(given);
  return [said(json ? `(Un contenido ${kind}: ${cutText(json, unknownLength)})` : tooDeep)];
}

/** Base64 as the protocol wants it, from a `data:` address or from base64url; undefined for any other text. */
function base64In(given: unknown): string | undefined {
  if (typeof given !== "string") return undefined;
  const plain = given
    .replace(/^data:[^,]{0,100},/, "")
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .replace(/\s+/g, "");
  return /^[A-Za-z0-9+/]+={0,2}$/.test(plain) ? plain : undefined;
}
