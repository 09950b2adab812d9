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

// Without signs that a database can't keep.
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

/** How a reply of a Tertulia was made. What does not fit is left out. `at`: when it began, in epoch ms. */
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

/** Parts of a reply with their places in its text; none if their text is another one, as after an edit by hand. */
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

/** A call that was made elsewhere: what it brought may have been written by anybody, and it belongs to no tool here. */
const callOf = (
  { name, tool, label, server, input, edited }: Extract<z.output<typeof part>, { kind: "tool" }>,
  step: number,
): Call => ({
  ...{ id: newId(), step, name, tool, toolId: null, label, server, input, edited },
  readOnly: true,
  reachesOut: true,
});

/** A source; `fileId` is that of the export. What is said to come from a list of results was not read here. */
function sourceOf(one: Json): Source[] {
  const read = source.safeParse(one);
  if (!read.success) return [];
  const { url, readAt, ...rest } = read.data;
  return [{ ...rest, chatId: null, messageId: null, ...(url && { url }), ...(readAt && { readAt }) }];
}
