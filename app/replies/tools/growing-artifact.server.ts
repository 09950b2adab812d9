import { ArtifactRefused, type Artifacts } from "../../artifacts/artifacts.server.ts";
import { objectOf } from "../../process/text/json.ts";
import { headOf, writingTool } from "../../tools/builtin/artifacts.server.ts";
import type { ToolPart } from "../parts.server.ts";
import type { Piece } from "../providers/model-call.server.ts";
import type { Run } from "../running/run.server.ts";
import type { Calling } from "./calling.server.ts";

// In ms between two stores of a text. Long texts are stored less often: at most `keptPerSecond` characters a second are written.
const keptEvery = 700;
const keptPerSecond = 100_000;
// In characters of the input: the text begins before that.
const headAtMost = 2_000;

/**
 * The artifact that a model is writing as the input of its call: stored while it grows, so that it can be read meanwhile, and its text so
 * far stays if the reply is cut off. Only the first such call of an answer grows; others come whole.
 */
export class GrowingArtifact {
  readonly #artifacts: Artifacts;
  readonly #run: Run;
  readonly #calling: Calling;
  readonly #step: number;
  /** Place of its call in the answer, once that is known. */
  #index: number | undefined;
  /** Whether `call-growing` pieces report the call before it comes whole. */
  #isTold = false;
  #input = "";
  #artifactId: string | undefined;
  #part: ToolPart | undefined;
  #keepAt = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The stores, one after another; a failure stays, and is thrown at the next piece or at the end. */
  #keeping: Promise<void> = Promise.resolve();

  constructor(artifacts: Artifacts, run: Run, calling: Calling, step: number) {
    this.#artifacts = artifacts;
    this.#run = run;
    this.#calling = calling;
    this.#step = step;
  }

  /** The call that is in the reply already, by its place in the answer. */
  get begun(): Map<number, ToolPart> {
    return new Map(this.#part && this.#index !== undefined ? [[this.#index, this.#part]] : []);
  }

  async take(piece: Piece): Promise<void> {
    if (piece.type === "call" && this.#index === undefined && piece.name === this.#tool?.name) {
      this.#index = piece.index;
    } else if (piece.type === "call-growing" && piece.name === this.#tool?.name && this.#index === undefined) {
      this.#isTold = true;
      await this.#add(piece.text);
    } else if (piece.type === "call-input" && piece.index === this.#index && !this.#isTold) await this.#add(piece.text);
  }

  /** Called at the end of the answer. An unfinished call is kept up to here as interrupted: the model may make the call again. */
  async end(isWhole: boolean): Promise<void> {
    clearTimeout(this.#timer);
    await this.#keeping;
    if (isWhole && this.#index !== undefined) return;
    if (this.#part) await this.#keepNext();
    if (this.#part?.status !== "running") return;
    Object.assign(this.#part, { status: "interrupted", finishedAt: Date.now() });
    this.#run.announce();
  }

  async #add(text: string): Promise<void> {
    this.#input += text;
    const wait = this.#keepAt - Date.now();
    if (wait <= 0) await this.#keepNext();
    // The timer stores the text of a model that makes a pause. A failure stays in `#keeping`, which `end` awaits.
    else if (Number.isFinite(wait)) this.#timer ??= setTimeout(() => void this.#keepNext().catch(() => {}), wait);
  }

  #keepNext(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#keeping = this.#keeping.then(() => this.#keep());
    return this.#keeping;
  }

  /** The writing tool; undefined if it is not offered, or a person is asked before it writes. */
  get #tool() {
    return this.#calling.tools.find(({ tool, server, asks }) => tool === writingTool && server === null && !asks);
  }

  async #keep(): Promise<void> {
    const fields = objectOf(closed(this.#input));
    // An existing artifact keeps its old version until the new one is whole.
    if (typeof fields?.texto !== "string" || (fields.escrito && fields.escrito !== "0")) {
      if (this.#input.length > headAtMost) this.#keepAt = Number.POSITIVE_INFINITY;
      return;
    }
    this.#keepAt = Date.now() + Math.max(keptEvery, (this.#input.length / keptPerSecond) * 1_000);
    if (!this.#artifactId) {
      const place = this.#calling;
      try {
        const { userId, chatId, projectId, sessionId, messageId } = place;
        const row = await this.#artifacts.begin({ userId, chatId, projectId, sessionId }, messageId, headOf(fields));
        this.#artifactId = row.id;
      } catch (error) {
        // The call itself reports the reason later.
        if (!(error instanceof ArtifactRefused)) throw error;
        this.#keepAt = Number.POSITIVE_INFINITY;
        return;
      }
      this.#tell(String(fields.titulo ?? ""));
    }
    await this.#artifacts.grow(this.#artifactId, fields.texto);
  }

  #tell(titulo: string): void {
    const tool = this.#tool;
    if (!tool) return;
    const part: ToolPart = {
      kind: "tool",
      at: this.#run.text.length,
      text: "",
      startedAt: Date.now(),
      finishedAt: null,
      status: "running",
      call: {
        id: "",
        step: this.#step,
        name: tool.name,
        tool: tool.tool,
        toolId: tool.toolId,
        label: tool.label,
        server: null,
        input: JSON.stringify({ titulo }),
        // Until the call is whole, nothing is done that can't be repeated.
        readOnly: true,
        ...(this.#artifactId && { artifactId: this.#artifactId }),
      },
    };
    this.#part = part;
    this.#run.add(part);
  }
}

/** JSON of which only the beginning is there, closed where it stops. */
export function closed(beginning: string): string {
  const open: string[] = [];
  let inString = false;
  let unfinished = -1;
  for (let at = 0; at < beginning.length; at++) {
    const one = beginning.charAt(at);
    if (inString) {
      if (one === "\\") {
        // A `\u` escape includes its four digits.
        const length = beginning.charAt(at + 1) === "u" ? 6 : 2;
        if (at + length > beginning.length) unfinished = at;
        at += length - 1;
      } else if (one === '"') inString = false;
    } else if (one === '"') inString = true;
    else if (one === "{" || one === "[") open.push(one === "{" ? "}" : "]");
    else if (one === "}" || one === "]") open.pop();
  }
  const whole = unfinished >= 0 ? beginning.slice(0, unfinished) : beginning;
  return `${whole}${inString ? '"' : ""}${open.reverse().join("")}`;
}
