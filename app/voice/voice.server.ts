import type { Db } from "../db/engine.server.ts";
import { prepared } from "../db/prepared.server.ts";
import type { VoiceModelRow } from "../db/tables.ts";
import { tryDecrypt } from "../process/crypto.server.ts";
import { faultOf } from "../process/fault.ts";
import { changedBetween } from "../process/text/between.ts";
import { objectOf } from "../process/text/json.ts";
import { ReplyError, replyError, toldBy } from "../replies/errors.server.ts";
import { postToModel } from "../replies/providers/model-post.server.ts";
import { joinedSound, soundTypeOf } from "./sound.server.ts";

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

/** How a recording is to be heard: its language (ISO 639-1), words that may occur in it, and how freely the model guesses. */
export type HearingWishes = { language?: string; prompt?: string; temperature?: string };

/** Words in a recording; empty if there are none. Throws ReplyError. */
export async function transcribe(
  services: VoiceServices,
  model: TriedVoice,
  recording: { bytes: Buffer; mediaType: string; wishes?: HearingWishes },
  signal: AbortSignal,
): Promise<string> {
  const { mediaType } = recording;
  const body = new FormData();
  body.append("model", model.externalId);
  // Servers judge a recording by the ending of its name.
  const name = `audio.${endings.get(mediaType) ?? mediaType.split("/")[1]}`;
  body.append("file", new Blob([new Uint8Array(recording.bytes)], { type: mediaType }), name);
  body.append("response_format", "json");
  for (const [name, value] of Object.entries(recording.wishes ?? {})) body.append(name, value);
  const post = { baseUrl: model.baseUrl, path: "/audio/transcriptions", apiKey: keyOf(services, model), body };
  const answer = await answered(
    postToModel({ ...post, signal: limited(signal) }).then(async (answer) => ({
      text: await answer.text(),
      isPage: /html/i.test(answer.headers.get("Content-Type") ?? ""),
    })),
  );
  const text = answer.isPage ? undefined : transcriptIn(answer.text);
  if (text === undefined) throw ReplyError.of("nonsense");
  return isSilence(text) ? "" : text.trim();
}

const endings = new Map([
  ["audio/mpeg", "mp3"],
  ["audio/mp4", "mp4"],
  ["audio/x-m4a", "m4a"],
  ["audio/vnd.wave", "wav"],
  ["audio/x-wav", "wav"],
  ["audio/x-flac", "flac"],
]);

/** The words of an answer, in `text` of its JSON; servers that do not know `response_format` answer with the words alone. */
function transcriptIn(answer: string): string | undefined {
  if (!/^\s*[{["]/.test(answer)) return answer;
  const said = objectOf(answer);
  return typeof said?.text === "string" ? said.text : undefined;
}

/** Whether a transcript has only marks of silence, such as «[BLANK_AUDIO]» and «(música)», or credits that Whisper makes up in silence. */
const isSilence = (text: string) =>
  /^[\s.]*(?:[[(*♪][^\])*♪\n]{0,40}[\])*♪][\s.]*){1,5}$/.test(text) ||
  /^\s*(?:Subtítulos (?:realizados )?por la comunidad de Amara\.org|¡?Gracias por ver el v[ií]deo!?)[\s.!]*$/i.test(
    text,
  );

/** Formats in which a program may want speech, by OpenAI's names. */
export const soundFormats = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const;
type SpeechWishes = { format?: (typeof soundFormats)[number]; speed?: number | undefined };
/** `mediaType`: the one asked for, or another one if the server has only that. */
export type Sound = { bytes: Buffer; mediaType: string };

/** A text as speech, in MP3 by default. Throws ReplyError. */
export async function speak(
  services: VoiceServices,
  model: TriedVoice,
  text: string,
  signal: AbortSignal,
  { format = "mp3", speed }: SpeechWishes = {},
): Promise<Sound> {
  const post = { baseUrl: model.baseUrl, path: "/audio/speech", apiKey: keyOf(services, model) };
  const sounds: Sound[] = [];
  for (const part of inParts(text)) {
    const said = { model: model.externalId, input: part, voice: model.voice || "alloy" };
    const body = { ...said, response_format: format, ...(speed !== undefined && { speed }) };
    const asked = postToModel({ ...post, body, signal: limited(signal) });
    sounds.push(await answered(asked.then((answer) => soundIn(answer, format))));
  }
  const [first] = sounds;
  const joined =
    first &&
    joinedSound(
      sounds.map(({ bytes }) => bytes),
      first.mediaType,
    );
  if (!joined || sounds.some(({ mediaType }) => mediaType !== first.mediaType)) throw unjoined();
  return { bytes: joined, mediaType: first.mediaType };
}

async function soundIn(answer: Response, format: SpeechWishes["format"]): Promise<Sound> {
  const bytes = Buffer.from(await answer.arrayBuffer());
  // Samples alone have no mark; an answer in words is an error.
  const isText = /json|html|text/i.test(answer.headers.get("Content-Type") ?? "");
  const mediaType = format === "pcm" && !isText ? "audio/pcm" : await soundTypeOf(bytes);
  if (!mediaType)
    throw new ReplyError("El servidor de voz ha contestado algo que no es sonido. Avisa a quien administra.");
  return { bytes, mediaType };
}

const unjoined = () =>
  new ReplyError("El servidor de voz da un sonido que no se puede juntar por partes. Pide un texto más corto.");

const limited = (signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(patience)]);

function keyOf({ modelKey }: VoiceServices, { id, apiKey }: TriedVoice): string | null {
  const key = apiKey === null ? null : tryDecrypt(apiKey, modelKey, id);
  if (key === undefined) throw ReplyError.lostKey();
  return key;
}

async function answered<Answer>(asked: PromiseLike<Answer>): Promise<Answer> {
  try {
    return await asked;
  } catch (error) {
    if (faultOf(error).name === "TimeoutError") {
      throw new ReplyError("El servidor de voz no ha contestado a tiempo.", { status: 504, cause: error });
    }
    const told = toldBy(error);
    const own = told && voiceFailures.find(([pattern]) => pattern.test(told.said))?.[1];
    if (own) throw new ReplyError(own, { status: 400, cause: error });
    if (told?.status === 413) {
      throw new ReplyError("La grabación es demasiado larga para el modelo de voz.", { status: 413, cause: error });
    }
    throw replyError(error);
  }
}

const voiceFailures: [RegExp, string][] = [
  [/audio[^.]{0,30} too short|minimum audio length/i, "La grabación es demasiado corta: graba al menos un segundo."],
  [
    /(?:invalid|unsupported|unrecogni[sz]ed) (?:audio |file )?format|could not (?:be )?decode/i,
    "El modelo de voz no entiende este tipo de grabación.",
  ],
];

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
  changedBetween(markdown, "\\[", "\\]", () => "\nAquí hay una fórmula.\n")
    .replace(/(```|~~~)[\s\S]*?(\1|$)/g, "\nAquí hay código.\n")
    .replace(/\$\$[\s\S]*?\$\$/g, "\nAquí hay una fórmula.\n")
    .replace(/<br ?\/?>/gi, "\n")
    .replace(/&nbsp;/g, " ")
    .replace(/^[ \t|:-]+$/gm, "")
    .replace(
      /^[ \t]*\|(.*)\|[ \t]*$/gm,
      (_, cells: string) =>
        `${cells
          .split("|")
          .map((cell) => cell.trim())
          .join(", ")}.`,
    )
    .replace(/^[ \t]*(?:[#>]+|[-+*])[ \t]+(?:\[[ xX]\][ \t]+)?/gm, "")
    .replace(/!?\[([^[\]\n]*)\]\((?:[^()\s]|\([^()\s]*\))*(?: "[^"\n]*")?\)/g, "$1")
    .replace(/^\[[^[\]\n]{1,100}\]:[ \t]*\S+[^\n]*$/gm, "")
    .replace(/<?https?:\/\/[^\s<>]*[^\s<>.,;:!?)»]>?/g, "un enlace")
    .replace(/ ?\[\^?\d{1,2}(?:, ?\d{1,2})*\]/g, "")
    .replace(/\\[()]|[`~]+/g, "")
    // Not signs of multiplication, nor those of names such as «mi_archivo».
    .replace(/(?<![\p{L}\p{N}])[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?![\p{L}\p{N}])/gu, "")
    .replace(/\p{Emoji_Presentation}\ufe0f?|\p{Extended_Pictographic}\ufe0f|\u200d/gu, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
