import type { Source } from "./chunk.ts";
import type { Part } from "./providers.server.ts";

// Three words every 30 ms: fast to read along, slow enough to see that it is being written.
const pace = 30;

/**
 * The built-in assistant: quotes what search found for a question, as Markdown. It is a search and says so.
 * `written` is what there is of the reply already.
 */
export async function* localReply(sources: Source[], written: string, signal: AbortSignal): AsyncGenerator<Part> {
  const whole = sources.length > 0 ? found(sources) : nothingFound;
  // Going on with a reply that was cut: what search finds now may be something else.
  const text = whole.startsWith(written) ? whole.slice(written.length) : `\n\n${whole}`;
  for (const [words] of text.matchAll(/(?:\S+\s*){1,3}/g)) {
    signal.throwIfAborted();
    yield { type: "text", text: words };
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
  const passages = sources.map(({ n, title, quote }) => `**«${escapeMarkdown(title)}»** [${n}]\n\n${asQuote(quote)}`);
  return [intro, ...passages, whatIAm].join("\n\n");
}

const whatIAm =
  "Soy el asistente local: busco en tus documentos, en tus mensajes anteriores y en los entrenamientos de esta instalación, y cito lo que encuentro. No soy un modelo de lenguaje. Para conversar con uno, quien administra puede conectar Ollama, OpenAI, Anthropic o Google.";

const nothingFound = `No he encontrado nada sobre eso en lo que ya está escrito.

${whatIAm}

Mientras tanto puedes seguir escribiendo: todo lo que escribas aquí se guarda y podré encontrarlo después. Para conectar un modelo:

1. Arranca [Ollama](https://ollama.com) en esta máquina y reinicia Tertulia; sus modelos aparecerán solos.
2. O bien pon una clave en \`OPENAI_API_KEY\`, \`ANTHROPIC_API_KEY\` o \`GOOGLE_GENERATIVE_AI_API_KEY\` antes de arrancar.`;

function asQuote(text: string): string {
  return escapeMarkdown(text)
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<>#|~$]/g, "\\$&");
}
