import { z } from "zod";
import { limits } from "../../process/limits.ts";

/**
 * Cleans a person's text: trims it, and collapses runs of spaces and tabs into one space and blank lines into one line break.
 * Between ``` fences nothing is collapsed, so that code keeps its shape.
 */
export function cleanConversationText(raw: string): string {
  const text = raw.replaceAll("\0", "").replace(/\r\n?/g, "\n");
  return text
    .split(/(^```[^\n]*\n[\s\S]*?(?:^```[ \t]*$|(?![\s\S])))/m)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/[ \t]+/g, " ").replace(/\n(?:[ \t]*\n)+/g, "\n")))
    .join("")
    .trim();
}

export const unwritten = "Escribe un mensaje antes de enviarlo.";

const atMost = z
  .string()
  .max(
    limits.message,
    `El mensaje puede tener ${limits.message.toLocaleString("es")} caracteres como mucho. Acórtalo o repártelo en varios.`,
  );

/** The text of a message that may say all it has to say by its files. */
export const textBesideFiles = z.string("Falta el mensaje.").transform(cleanConversationText).pipe(atMost);

export const conversationText = textBesideFiles.pipe(z.string().min(1, unwritten));
