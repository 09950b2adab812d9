import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Db } from "../db/engine.server.ts";
import { prepared } from "../db/prepared.server.ts";
import type { Meaning, Meanings } from "../db/search/meaning.server.ts";
import { quantise } from "../db/search/quantise.server.ts";
import type { SearchModelRow } from "../db/tables.ts";
import { tryDecrypt } from "../process/crypto.server.ts";
import type { Log } from "../process/log.server.ts";
import { cutText } from "../process/text/cut-text.ts";
import { describeCause, ReplyError } from "../replies/errors.server.ts";
import { type Embedded, embed } from "./embed.server.ts";

type ModelServices = { db: Db; modelKey: Buffer; log: Log };

// In ms. A question waits no longer than this for its meaning: it is then searched by its words.
const questionPatience = 3_000;
const passagesPatience = 60_000;
// In ms. After a failure, questions do not ask the model for this long.
const restAfterFailure = 30_000;
// A question is cut to this length: a longer one is a document.
const questionLength = 2_000;

const tooLate = Symbol("too late");

/** A model that can be asked, stored or not yet. */
export type TriedModel = Pick<
  SearchModelRow,
  "id" | "externalId" | "baseUrl" | "apiKey" | "questionPrefix" | "passagePrefix" | "problem"
>;

/** The model that search uses, if an admin has enabled one: it gives the meanings of questions and passages. */
export class SearchModel implements Meanings {
  readonly #services: ModelServices;
  #restsUntil = 0;
  /** A question is being asked that nobody waits for any more: its model is being loaded. */
  #isLate = false;

  constructor(services: ModelServices) {
    this.#services = services;
  }

  /** The enabled model, its key still encrypted. */
  async current(): Promise<SearchModelRow | undefined> {
    const { rows } = await findEnabled(this.#services.db, {});
    return rows[0];
  }

  /** Meaning of a question; undefined if there is no model, or it does not answer in time: then words have to do. */
  async meaningOf(question: string): Promise<Meaning | undefined> {
    if (this.#isLate || Date.now() < this.#restsUntil) return;
    const model = await this.current();
    if (!model) return;
    const text = after(model.questionPrefix, cutText(question, questionLength));
    const asked = this.#ask(model, [text], AbortSignal.timeout(passagesPatience)).then(
      ([meaning]) => meaning,
      (error: unknown) => this.#rest(error),
    );
    // A server such as Ollama stops loading its model if the request ends, so the request goes on after nobody waits for it.
    const meaning = await Promise.race([asked, wait(questionPatience, tooLate, { ref: false })]);
    if (meaning !== tooLate) return meaning;
    this.#isLate = true;
    this.#services.log.warn("se busca solo por palabras: el modelo de búsqueda no ha contestado a tiempo");
    void asked
      .catch((error: unknown) => this.#services.log.error({ err: error }, "pregunta al modelo de búsqueda"))
      .finally(() => {
        this.#isLate = false;
      });
    return undefined;
  }

  /** Leaves a model that has failed alone for a while. */
  #rest(error: unknown): undefined {
    if (!(error instanceof ReplyError)) throw error;
    this.#restsUntil = Date.now() + restAfterFailure;
    this.#services.log.warn({ cause: describeCause(error) }, `se busca solo por palabras: ${error.message}`);
  }

  /** Meanings of passages, in their order. Throws ReplyError. The model's row tells how it went. */
  async meaningsOf(model: TriedModel, passages: string[], signal: AbortSignal): Promise<Meaning[]> {
    const texts = passages.map((passage) => after(model.passagePrefix, passage));
    const limited = AbortSignal.any([signal, AbortSignal.timeout(passagesPatience)]);
    try {
      const meanings = await this.#ask(model, texts, limited);
      if (model.problem !== null) await this.#tell(model, null);
      return meanings;
    } catch (error) {
      if (error instanceof ReplyError && !signal.aborted) await this.#tell(model, error.message);
      throw error;
    }
  }

  /** The server's own vectors of texts, each with `dimensions` numbers if that is given. Throws ReplyError. */
  async vectorsOf(model: TriedModel, texts: Embedded[], signal: AbortSignal, dimensions?: number): Promise<number[][]> {
    const { modelKey } = this.#services;
    const apiKey = model.apiKey === null ? null : tryDecrypt(model.apiKey, modelKey, model.id);
    if (apiKey === undefined) throw ReplyError.lostKey();
    return embed({ ...model, apiKey }, texts, signal, dimensions);
  }

  async #ask(model: TriedModel, texts: string[], signal: AbortSignal): Promise<Meaning[]> {
    const vectors = await this.vectorsOf(model, texts, signal);
    return vectors.map((numbers) => ({ ...quantise(numbers), version: versionOf(model, numbers.length) }));
  }

  async #tell({ id }: TriedModel, problem: string | null): Promise<void> {
    await this.#services.db.updateTable("searchModels").set({ problem }).where("id", "=", id).execute();
  }
}

const after = (prefix: string, text: string) => (prefix ? `${prefix} ${text}` : text);

/** The version of vectors that can be compared: of one model, one length, and texts given in the same way. */
const versionOf = (model: TriedModel, length: number) => `${nameOf(model)}-${length}`;

function nameOf({ externalId, questionPrefix, passagePrefix }: TriedModel): string {
  const said = JSON.stringify([externalId, questionPrefix, passagePrefix]);
  return createHash("sha256").update(said).digest("hex").slice(0, 16);
}

/** Whether a version is one of this model, of whatever length. */
export const isVersionOf = (model: TriedModel, version: string) => version.startsWith(`${nameOf(model)}-`);

const findEnabled = prepared((db, _: object) =>
  db.selectFrom("searchModels").where("enabled", "=", 1).orderBy("updatedAt", "desc").limit(1).selectAll(),
);
