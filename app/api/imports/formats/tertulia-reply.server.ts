import { z } from "@hono/zod-openapi";
import { v7 as newId } from "uuid";
import { limits } from "../../../process/limits.ts";
import { objectOf } from "../../../process/text/json.ts";
import type { Source } from "../../../replies/chunk.ts";
import type { Call } from "../../../replies/tools/call.ts";
import {
  fileNamed,
  type ImportedFile,
  type ImportedPart,
  type ImportedReply,
  type Json,
  objects,
  text,
  time,
} from "./imported-chat.server.ts";

// Text without characters that a database can't store.
const said = z.string().overwrite(text);
const name = said.max(200);
const ms = z.number().min(0).max(1e9).nullable().catch(null);
const side = z.number().int().positive().nullable().catch(null);
const part = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("text"), text: said }),
  z.object({ kind: z.literal("reasoning"), text: said.max(limits.reasoning), ms }),
  z.object({
    kind: z.literal("tool"),
    name,
    tool: name,
    label: name,
    server: name.nullable().catch(null),
    status: z.enum(["done", "failed", "refused", "interrupted"]).catch("interrupted"),
    input: said.max(limits.reply).refine((input) => objectOf(input) !== undefined),
    output: said.max(limits.reply),
    edited: z.boolean().catch(false),
    ms,
  }),
  z.object({
    kind: z.literal("image"),
    alt: said,
    name: said.catch(""),
    path: said.catch(""),
    width: side,
    height: side,
  }),
]);
const source = z.object({
  n: z.number().int().positive(),
  kind: z.enum(["message", "training", "file", "page"]).catch("message"),
  title: said.max(1_000),
  quote: said.max(10_000),
  fileId: said.nullable().optional().catch(undefined),
  position: z.number().int().min(0).nullable().optional().catch(undefined),
  url: z
    .url({ protocol: /^https?$/ })
    .max(limits.address)
    .optional()
    .catch(undefined),
  readAt: z.number().optional().catch(undefined),
});

/** How a reply of a Tertulia was made. Values that do not fit are left out. `at`: start of the reply, in epoch ms. */
export function replyOf(message: Json, at: number): ImportedReply {
  const status = z.enum(["complete", "stopped", "failed", "interrupted"]).catch("complete").parse(message.status);
  return {
    model: text(message.model) || null,
    status,
    error: text(message.error).slice(0, 1_000) || null,
    finishedAt: time(message.finishedAt) || null,
    parts: partsOf(message, at),
    sources: objects(message.sources).flatMap(sourceOf),
  };
}

/** Parts of a reply with their positions in its text; none if the parts do not match that text, as after an edit by hand. */
function partsOf(message: Json, startedAt: number): ImportedPart<ImportedFile>[] {
  let [length, calls] = [0, 0];
  const all: ImportedPart<ImportedFile>[] = [];
  for (const one of objects(message.parts)) {
    const read = part.safeParse(one);
    if (!read.success) continue;
    const { data } = read;
    const at = length;
    if (data.kind === "text") {
      all.push({ kind: "text", at });
      length += data.text.length;
      continue;
    }
    if (data.kind === "image") {
      const { alt, name, path, width, height } = data;
      const image = { file: { ...fileNamed(name, path), kind: "image" as const }, width, height };
      all.push({ kind: "image", at, text: alt, startedAt, finishedAt: startedAt, image });
      continue;
    }
    const times = { startedAt, finishedAt: data.ms === null ? null : startedAt + data.ms };
    if (data.kind === "reasoning") all.push({ kind: "reasoning", at, text: data.text, ...times });
    else all.push({ kind: "tool", at, text: data.output, status: data.status, call: callOf(data, calls++), ...times });
  }
  return length === text(message.content).length && length <= limits.reply ? all : [];
}

/** A tool call of another installation: anybody may have written its result, and it belongs to no tool of this installation. */
const callOf = (
  { name, tool, label, server, input, edited }: Extract<z.output<typeof part>, { kind: "tool" }>,
  step: number,
): Call => ({
  ...{ id: newId(), step, name, tool, toolId: null, label, server, input, edited },
  readOnly: true,
  reachesOut: true,
});

/** A source; `fileId` is the id in the export. `isListed` is dropped, because no list of results was read here. */
function sourceOf(one: Json): Source[] {
  const read = source.safeParse(one);
  if (!read.success) return [];
  const { url, readAt, ...rest } = read.data;
  return [{ ...rest, chatId: null, messageId: null, ...(url && { url }), ...(readAt && { readAt }) }];
}
