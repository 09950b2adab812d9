import type { CallToolResult } from "@modelcontextprotocol/client";
import type { Made, Outcome } from "../tool.server.ts";

const imagesAtMost = 4;
// Bytes of one image in base64.
const imageLength = 12 * 1024 * 1024;

// Types whose bytes are text, besides those of `text/`.
const textual = /^(?:text\/|application\/(?:json|xml|yaml|toml|csv)\b|[\w.-]+\/[\w.-]+\+(?:json|xml)\b)/i;

/** Answer of a server's tool. Its text stays text, whatever it looks like. */
export function outcomeOf({ content = [], structuredContent, isError }: CallToolResult): Outcome {
  const made: Made[] = [];
  const show = (data: string): string => {
    if (made.length >= imagesAtMost || data.length > imageLength) return "(Una imagen, que no se puede enseñar.)";
    const name = `imagen-${made.length + 1}`;
    made.push({ bytes: Buffer.from(data, "base64"), name, shows: "Imagen de la herramienta" });
    return "(Una imagen, que la persona ve.)";
  };
  const texts = content.map((block): string => {
    if (block.type === "text") return block.text;
    if (block.type === "resource_link") {
      const about = block.description ? ` (${block.description})` : "";
      return `${block.title ?? block.name}: ${block.uri}${about}`;
    }
    if (block.type === "image") return show(block.data);
    if (block.type === "audio") return "(Un sonido, que no se puede enseñar.)";
    if ("text" in block.resource) return block.resource.text;
    const { uri, blob, mimeType = "" } = block.resource;
    if (mimeType.startsWith("image/")) return show(blob);
    return textual.test(mimeType) ? Buffer.from(blob, "base64").toString() : `(${uri}, que no es texto)`;
  });
  const said = texts.filter(Boolean).join("\n\n");
  const isTold = structuredContent === undefined || tells(said, structuredContent);
  const data = isTold ? "" : JSON.stringify(structuredContent, null, 1);
  return {
    text: [said, data].filter(Boolean).join("\n\n"),
    ...(isError && { failed: true }),
    ...(made.length > 0 && { made }),
    ...(structuredContent !== undefined && { structured: JSON.stringify(structuredContent) }),
  };
}

// Values of the data that are looked for, and characters of the text in which they are: both may be some megabytes.
const valuesLooked = 200;
const textLooked = 100_000;

/** Whether a text has what some data has: servers are to write their data as text, too, but many write a summary. */
function tells(text: string, data: unknown): boolean {
  if (text === "") return false;
  const begin = text.slice(0, textLooked);
  const values = valuesIn(data).take(valuesLooked).toArray();
  return values.every((one) => begin.includes(one) || begin.includes(JSON.stringify(one).slice(1, -1)));
}

/** The texts and numbers in some data, as texts. */
function* valuesIn(data: unknown): Generator<string> {
  if (typeof data === "string" || typeof data === "number") yield String(data);
  else if (typeof data === "object" && data !== null) for (const one of Object.values(data)) yield* valuesIn(one);
}
