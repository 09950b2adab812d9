import type { ModelRow } from "../../db/tables.ts";
import { tryDecrypt } from "../../process/crypto.server.ts";
import { ReplyError } from "../errors.server.ts";

/** The model with its API key decrypted. Throws ReplyError if the key was stored under another master secret. */
export function openModel(model: ModelRow, modelKey: Buffer): ModelRow {
  if (model.apiKey === null) return model;
  const known = opened.get(modelKey) ?? new Map<string, string>();
  opened.set(modelKey, known);
  const identity = `${model.id} ${model.apiKey}`;
  const apiKey = known.get(identity) ?? tryDecrypt(model.apiKey, modelKey, model.id);
  if (apiKey === undefined) throw ReplyError.lostKey();
  if (known.size >= keptOpen) known.clear();
  known.set(identity, apiKey);
  return { ...model, apiKey };
}

// What each master key has decrypted, by the model and its encrypted form, so that not every reply decrypts one.
const opened = new WeakMap<Buffer, Map<string, string>>();
const keptOpen = 50;
