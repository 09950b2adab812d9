import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { limits } from "../../process/limits.ts";
import { ReplyError } from "../errors.server.ts";
import type { Piece } from "./providers.server.ts";
import { type Stretch, Thoughts } from "./thoughts.server.ts";
import { WholeCharacters } from "./whole-characters.server.ts";

/** One answer of a model as it comes from a provider's library: its thoughts, its text and its end. */
export class Answer {
  /** Characters of text, and of thoughts. */
  length = 0;
  finished = false;
  /** Whether its thoughts have turned out to have no opening tag. */
  mistook = false;
  readonly #untagged: boolean;
  readonly #thoughts: Thoughts;
  readonly #text = new WholeCharacters();
  readonly #reasoning = new WholeCharacters();
  #thoughtLength = 0;
  #files = 0;

  /** `untagged`: the model is known to leave out the opening tag of its thoughts. */
  constructor(untagged: boolean) {
    this.#untagged = untagged;
    this.#thoughts = new Thoughts({ untagged });
  }

  /** Whether it has said anything. */
  get begun(): boolean {
    return this.length + this.#thoughtLength > 0;
  }

  /** Whether it came to an end without a text, though its thoughts were thought to have no opening tag. */
  get onlyThought(): boolean {
    return this.#untagged && this.finished && this.length === 0;
  }

  /** What a part of the stream adds. Throws what the library says has gone wrong, and a ReplyError for an end without a text. */
  *read(part: LanguageModelV4StreamPart): Generator<Piece> {
    if (part.type === "error") throw part.error;
    if (part.type === "file") this.#files++;
    if (part.type === "reasoning-delta")
      yield* this.#count([{ type: "reasoning", text: this.#reasoning.add(part.delta) }]);
    if (part.type === "text-delta") yield* this.#count(this.#thoughts.split(this.#text.add(part.delta)));
    if (part.type !== "finish") return;
    yield* this.#count([...this.#thoughts.split(this.#text.rest()), ...this.#thoughts.rest()]);
    this.finished = true;
    const { finishReason, usage } = part;
    const { unified, raw } = finishReason;
    // The libraries invent a finish when the stream breaks off.
    if (unified === "error" || (unified === "other" && raw === undefined)) throw ReplyError.cut();
    const refused = raw === "refusal";
    if (this.length === 0) this.#refuseWordless(finishReason);
    yield {
      type: "finish",
      usage: {
        inputTokens: usage.inputTokens.total,
        outputTokens: usage.outputTokens.total,
        reasoningTokens: usage.outputTokens.reasoning,
      },
      reason: unified === "length" ? "length" : unified === "content-filter" ? "content_filter" : "stop",
      ...(unified === "length" && { note: "La respuesta ha llegado a la longitud máxima de este modelo." }),
      // A refusal is a complete answer.
      ...(unified === "content-filter" &&
        !refused && { note: "El proveedor ha cortado la respuesta con su filtro de contenido." }),
    };
  }

  #refuseWordless({ unified, raw }: LanguageModelV4FinishReason): never {
    if (raw === "refusal") throw ReplyError.wordless("refusal");
    if (unified === "length" || unified === "content-filter" || unified === "tool-calls") {
      throw ReplyError.wordless(unified);
    }
    throw this.#files > 0 ? ReplyError.wordless("file") : ReplyError.empty();
  }

  *#count(stretches: Stretch[]): Generator<Stretch> {
    for (const stretch of stretches) {
      if (stretch.type === "mistaken") {
        this.mistook = true;
        yield stretch;
      } else if (stretch.type === "text") {
        this.length += stretch.text.length;
        if (stretch.text) yield stretch;
      } else {
        const room = limits.reasoning - this.#thoughtLength;
        this.#thoughtLength += stretch.text.length;
        // A thought without end is kept up to here, and goes on unseen.
        const text = stretch.text.slice(0, Math.max(0, room));
        if (text) yield { type: "reasoning", text };
      }
    }
  }
}
