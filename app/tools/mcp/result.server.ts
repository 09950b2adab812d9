import type { CallToolResult } from "@modelcontextprotocol/client";
import type { Made, Outcome } from "../tool.server.ts";

const imagesAtMost = 4;
// Bytes of one image in base64.
const imageLength = 12 * 1024 * 1024;

/** Answer of a server's tool. Its text stays text, whatever it looks like. */
export function outcomeOf({ content = [], structuredContent, isError }: CallToolResult): Outcome {
  const made: Made[] = [];
  const texts = content.map((block): string => {
    if (block.type === "text") return block.text;
    if (block.type === "resource_link") return `${block.title ?? block.name}: ${block.uri}`;
    if (block.type === "resource")
      return "text" in block.resource ? block.resource.text : `(${block.resource.uri}, que no es texto)`;
    if (block.type === "image" && made.length < imagesAtMost && block.data.length <= imageLength) {
      made.push({
        bytes: Buffer.from(block.data, "base64"),
        name: `imagen-${made.length + 1}`,
        shows: "Imagen de la herramienta",
      });
      return "(Una imagen, que la persona ve.)";
    }
    return block.type === "audio" ? "(Un sonido, que no se puede enseñar.)" : "(Una imagen, que no se puede enseñar.)";
  });
  const said = texts.filter(Boolean).join("\n\n");
  const text = said || (structuredContent === undefined ? "" : JSON.stringify(structuredContent, null, 1));
  return {
    text,
    ...(isError && { failed: true }),
    ...(made.length > 0 && { made }),
    ...(structuredContent !== undefined && { structured: JSON.stringify(structuredContent) }),
  };
}
