import type { ModelRow } from "../../db/tables.ts";
import { tryDecrypt } from "../../process/crypto.server.ts";
import { ReplyError } from "../errors.server.ts";

/** The model with its API key decrypted. Throws ReplyError if the key was stored under another master secret. */
export function openModel(model: ModelRow, modelKey: Buffer): ModelRow {
  if (model.apiKey === null) return model;
  const identity = `${model.id} ${model.apiKey}`;
  const apiKey = opened.get(identity) ?? tryDecrypt(model.apiKey, modelKey, model.id);
  if (apiKey === undefined) throw ReplyError.lostKey();
  if (opened.size >= keptOpen) opened.clear();
  opened.set(identity, apiKey);
  return { ...model, apiKey };
}

// Keys by their model and their encrypted form, so that not every reply decrypts one.
const opened = new Map<string, string>();
const keptOpen = 50;
