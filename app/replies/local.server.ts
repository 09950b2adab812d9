import type { Source } from "./chunk.ts";
import type { Piece } from "./providers/model-call.server.ts";

// The whole reply is known at once; it comes in a few pieces only to look alive.
const pieces = 12;

/**
 * The built-in assistant: quotes search results for a question as Markdown, and says that it is a search.
 * `written` is the part of the reply that exists already; `pace`: ms between pieces.
 */
export async function* localReply(
  sources: Source[],
  written: string,
  { pace, signal }: { pace: number; signal: AbortSignal },
): AsyncGenerator<Piece> {
  const whole = sources.length > 0 ? found(sources) : nothingFound;
  // Continuing an interrupted reply: search may find something else now.
  const text = whole.startsWith(written) ? whole.slice(written.length) : `\n\n${whole}`;
  const words = text.match(/\S+\s*|^\s+/g) ?? [];
  const atOnce = Math.max(3, Math.ceil(words.length / pieces));
  for (let at = 0; at < words.length; at += atOnce) {
    signal.throwIfAborted();
    yield { type: "text", text: words.slice(at, at + atOnce).join("") };
    await new Promise((resolve) => setTimeout(resolve, pace));
  }
  signal.throwIfAborted();
  yield { type: "finish", reason: "stop", usage: { inputTokens: 0, outputTokens: 0 } };
}

function found(sources: Source[]): string {
  const one = sources.length === 1;
  const intro = one
    ? "He encontrado un pasaje que habla de eso:"
    : `He encontrado ${sources.length} pasajes que hablan de eso:`;
  const passages = sources.map((source) => `**«${escapeMarkdown(source.title)}»** [${source.n}]\n\n${asQuote(source)}`);
  return [intro, ...passages, whatIAm].join("\n\n");
}

const whatIAm =
  "Soy el asistente local: busco en tus documentos, en tus mensajes anteriores y en los entrenamientos de esta instalación, y cito lo que encuentro. No soy un modelo de lenguaje. Para conversar con uno, quien administra puede conectar Ollama, OpenAI, Anthropic o Google.";

const nothingFound = `No he encontrado nada sobre eso en lo que ya está escrito.

${whatIAm}

Mientras tanto puedes seguir escribiendo: todo lo que escribas aquí se guarda y podré encontrarlo después. Para conectar un modelo:

1. Arranca [Ollama](https://ollama.com) en esta máquina; sus modelos aparecerán solos al cabo de un minuto.
2. O bien pon una clave en \`OPENAI_API_KEY\`, \`ANTHROPIC_API_KEY\` o \`GOOGLE_GENERATIVE_AI_API_KEY\` antes de arrancar.`;

/** A passage as Markdown: messages and trainings are Markdown already, most documents are plain text. */
function asQuote({ kind, title, quote }: Source): string {
  const isMarkdown = kind !== "file" || /\.(md|markdown)(,|$)/i.test(title);
  // Source numbers of another reply would lead nowhere here.
  const text = isMarkdown ? quote.replace(/\[(\d{1,2})\]/g, "($1)") : escapeMarkdown(quote);
  return text
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<>#|~$]/g, "\\$&");
}
