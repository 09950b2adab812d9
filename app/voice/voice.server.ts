import type { Db } from "../db/engine.server.ts";
import { prepared } from "../db/prepared.server.ts";
import type { VoiceModelRow } from "../db/tables.ts";
import { tryDecrypt } from "../process/crypto.server.ts";
import { faultOf } from "../process/fault.ts";
import { ReplyError, replyError } from "../replies/errors.server.ts";
import { fetchModel } from "../replies/providers/model-fetch.server.ts";

type VoiceServices = { db: Db; modelKey: Buffer };

// In ms: transcribing takes a fraction of a recording's length; making speech takes about a second for each sentence.
const patience = 120_000;
// In characters: OpenAI's models take 4,096.
const spokenAtOnce = 3_500;

/** The enabled model that hears (`transcription`) or speaks (`speech`), its key still encrypted; undefined if there is none. */
export async function voiceModel(db: Db, kind: VoiceModelRow["kind"]): Promise<VoiceModelRow | undefined> {
  return (await findEnabled(db, { kind })).rows[0];
}

const findEnabled = prepared((db, { kind }: { kind: VoiceModelRow["kind"] }) =>
  db
    .selectFrom("voiceModels")
    .where("enabled", "=", 1)
    .where("kind", "=", kind)
    .orderBy("updatedAt", "desc")
    .limit(1)
    .selectAll(),
);

/** The kinds that have an enabled model. Every page asks for them. */
export async function enabledKinds(db: Db): Promise<Set<VoiceModelRow["kind"]>> {
  return new Set((await findKinds(db, {})).rows.map(({ kind }) => kind));
}

const findKinds = prepared((db, _: object) => db.selectFrom("voiceModels").where("enabled", "=", 1).select("kind"));

/** A model that can be asked, stored or not yet. */
export type TriedVoice = Pick<VoiceModelRow, "id" | "externalId" | "baseUrl" | "apiKey" | "voice">;

/** Words in a recording; empty if there are none. Throws ReplyError. */
export async function transcribe(
  services: VoiceServices,
  model: TriedVoice,
  recording: { bytes: Buffer; mediaType: string },
  signal: AbortSignal,
): Promise<string> {
  const provider = await providerOf(services, model);
  const given = { audio: recording.bytes, mediaType: recording.mediaType, abortSignal: limited(signal) };
  const { text } = await answered(provider.transcription(model.externalId).doGenerate(given));
  return text.trim();
}

/** A text as speech in MP3. Throws ReplyError. */
export async function speak(
  services: VoiceServices,
  model: TriedVoice,
  text: string,
  signal: AbortSignal,
): Promise<Buffer> {
  const speech = (await providerOf(services, model)).speech(model.externalId);
  const sounds: Uint8Array[] = [];
  // MP3 frames need no container: the sounds are simply joined.
  for (const part of inParts(text)) {
    const given = { text: part, voice: model.voice || "alloy", outputFormat: "mp3", abortSignal: limited(signal) };
    const { audio } = await answered(speech.doGenerate(given));
    if (!(audio instanceof Uint8Array) || !(await isMp3(audio))) {
      throw new ReplyError("El servidor de voz ha contestado algo que no es un MP3. Avisa a quien administra.");
    }
    sounds.push(audio);
  }
  return Buffer.concat(sounds);
}

const limited = (signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(patience)]);

async function isMp3(bytes: Uint8Array): Promise<boolean> {
  const { fileTypeFromBuffer } = await import("file-type");
  return (await fileTypeFromBuffer(bytes))?.mime === "audio/mpeg";
}

async function providerOf({ modelKey }: VoiceServices, { id, baseUrl, apiKey }: TriedVoice) {
  const key = apiKey === null ? "none" : tryDecrypt(apiKey, modelKey, id);
  if (key === undefined) throw ReplyError.lostKey();
  const { createOpenAI } = await import("@ai-sdk/openai");
  return createOpenAI({ baseURL: baseUrl.replace(/\/+$/, ""), apiKey: key, fetch: fetchModel });
}

async function answered<Answer>(asked: PromiseLike<Answer>): Promise<Answer> {
  try {
    return await asked;
  } catch (error) {
    if (faultOf(error).name === "TimeoutError") {
      throw new ReplyError("El servidor de voz no ha contestado a tiempo.", { status: 504, cause: error });
    }
    throw replyError(error);
  }
}

/** A text in parts that a model takes, cut behind sentences or, where there are none, between words. */
export function inParts(text: string): string[] {
  const parts: string[] = [];
  let rest = text.trim();
  while (rest.length > spokenAtOnce) {
    const head = rest.slice(0, spokenAtOnce);
    const sentence = Math.max(...[". ", "? ", "! ", "\n"].map((end) => head.lastIndexOf(end)));
    const cut = sentence > 0 ? sentence + 1 : head.lastIndexOf(" ") > 0 ? head.lastIndexOf(" ") : spokenAtOnce;
    parts.push(rest.slice(0, cut).toWellFormed().trim());
    rest = rest.slice(cut).trim();
  }
  return rest ? [...parts, rest.toWellFormed()] : parts;
}

/**
 * A Markdown text as it is read aloud: without marks, addresses and the numbers of sources; code is named, not read. Each step is linear
 * in the text, whatever it is.
 */
export const spoken = (markdown: string): string =>
  markdown
    .replace(/```[\s\S]*?(```|$)/g, "\nAquí hay código.\n")
    .replace(/\$\$[\s\S]*?\$\$/g, "\nAquí hay una fórmula.\n")
    .replace(/^[ \t|:-]+$/gm, "")
    .replace(
      /^[ \t]*\|(.*)\|[ \t]*$/gm,
      (_, cells: string) =>
        `${cells
          .split("|")
          .map((cell) => cell.trim())
          .join(", ")}.`,
    )
    .replace(/^[ \t]*(?:[#>]+|[-+*])[ \t]+/gm, "")
    .replace(/!?\[([^[\]\n]*)\]\([^()\s]*\)/g, "$1")
    .replace(/ ?\[\d{1,2}\]/g, "")
    .replace(/[*_`~]+/g, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
