import { z } from "@hono/zod-openapi";
import type { VoiceModelRow } from "../../db/tables.ts";
import { speak, type TriedVoice, transcribe } from "../../voice/voice.server.ts";
import type { Services } from "../env.server.ts";
import type { Resource } from "../http/resource.server.ts";
import { flag, flagsOf, line, rowFields, timesOf } from "../http/schemas.server.ts";
import { keyToStore, refuseUnanswered, serverAddress, serverKey } from "../models/model-server.server.ts";

const fields = {
  name: line("El nombre", 60, 1),
  kind: z
    .enum(["transcription", "speech"], "El tipo tiene que ser transcription o speech.")
    .openapi({ description: "transcription: pasa voz a texto; speech: lee textos en voz alta." }),
  externalId: line("El identificador", 200, 1).openapi({ example: "whisper-1" }),
  baseUrl: serverAddress,
  voice: line("La voz", 100).default("").openapi({ description: "Con la que se lee; vacía: alloy." }),
  enabled: flag.default(true).openapi({ description: "Solo uno de cada tipo: activar este apaga los otros." }),
};
const body = z.strictObject({
  ...fields,
  apiKey: serverKey,
});
const shown = z.object({ ...rowFields, ...fields, baseUrl: z.string(), hasKey: z.boolean() }).openapi("VoiceModel");

// In ms: a server may have to load the model first.
const triedWithin = 60_000;

/** Models that hear and that speak. For admins alone. */
export const voiceModels: Resource<"voiceModels", typeof shown, typeof body> = {
  table: "voiceModels",
  name: "voiceModel",
  shown,
  body,
  show: ({ apiKey, ...row }) => ({
    ...row,
    ...timesOf(row),
    ...flagsOf(row, "enabled"),
    hasKey: apiKey !== null,
  }),
  async columns(given, { services, id, before }) {
    const columns = { ...given, apiKey: keyToStore(services.modelKey, { id, ...given }, before) };
    if (given.enabled) await refuseUnanswered(tried(services, { id, ...columns }));
    return columns;
  },
  serially: true,
  async inTransaction(trx, { id, kind, enabled }) {
    if (enabled === 0) return;
    const others = trx.updateTable("voiceModels").where("id", "!=", id).where("kind", "=", kind);
    await others.set({ enabled: 0 }).execute();
  },
  list: {
    searched: ["name", "externalId", "baseUrl"],
    sortable: [
      { text: "name", direction: "asc" },
      { text: "kind", direction: "asc" },
      { text: "externalId", direction: "asc" },
      { text: "baseUrl", direction: "asc" },
      { number: "enabled", direction: "desc" },
    ],
    filters: { enabled: "flag", kind: "text" },
  },
};

/** Has a model say something, or hear silence. */
function tried(services: Services, model: TriedVoice & Pick<VoiceModelRow, "kind">): Promise<unknown> {
  const within = AbortSignal.timeout(triedWithin);
  return model.kind === "speech"
    ? speak(services, model, "Hola.", within)
    : transcribe(services, model, { bytes: silence(), mediaType: "audio/wav" }, within);
}

/** Half a second of silence: WAV, one channel of 16 bits at 16 kHz. */
function silence(): Buffer {
  const rate = 16_000;
  const samples = Buffer.alloc(rate);
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}
