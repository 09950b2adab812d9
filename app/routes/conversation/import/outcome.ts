import { z } from "zod";

const outcome = z.object({
  chats: z.number(),
  messages: z.number(),
  files: z.number(),
  things: z.number().default(0),
  known: z.number(),
  grown: z.number().default(0),
  left: z.array(z.string()),
});
export type ImportOutcome = z.output<typeof outcome>;

/** Outcome of an import that has ended; undefined while it goes on. */
export const readOutcome = (result: unknown): ImportOutcome | undefined => outcome.safeParse(result).data;

/** Outcome of an import, in words: the chats that were brought in, and losses. */
export function outcomeInWords({
  chats,
  messages,
  files,
  things,
  known,
  grown,
  left,
}: ImportOutcome): [title: string, rest: string] {
  const counted = [
    messages === 1 ? "un mensaje" : `${messages.toLocaleString("es")} mensajes`,
    files > 0 && (files === 1 ? "un archivo" : `${files.toLocaleString("es")} archivos`),
  ].filter(Boolean);
  const many = `${chats.toLocaleString("es")} conversaciones importadas`;
  if (chats === 0 && things === 0 && grown === 0 && known > 0 && left.length === 0) {
    return [
      "Nada nuevo.",
      known === 1 ? "La conversación ya estaba." : `Las ${known.toLocaleString("es")} conversaciones ya estaban.`,
    ];
  }
  const title =
    chats === 0 && grown > 0
      ? `${counted.join(" y ")} de más, en ${grown === 1 ? "una conversación que ya estaba" : `${grown.toLocaleString("es")} conversaciones que ya estaban`}.`
      : `${chats === 1 ? "Una conversación importada" : many}, con ${counted.join(" y ")}.`;
  const rest = [
    chats > 0 &&
      grown > 0 &&
      `Parte de los mensajes son de ${grown === 1 ? "una conversación que ya estaba" : `${grown.toLocaleString("es")} que ya estaban`}.`,
    things > 0 &&
      `${things === 1 ? "También, una cosa más" : `También, ${things.toLocaleString("es")} cosas más`}: proyectos, asistentes, plantillas o preguntas programadas.`,
    known > 0 && `${known === 1 ? "Otra ya estaba" : `Otras ${known.toLocaleString("es")} ya estaban`}.`,
    left.length > 0 && `No venía en la exportación, o no se ha podido guardar: ${left.join("; ")}.`,
  ];
  return [title.slice(0, 1).toUpperCase() + title.slice(1), rest.filter(Boolean).join(" ")];
}
