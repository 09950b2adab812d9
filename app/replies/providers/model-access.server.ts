import type { ModelRow } from "../../db/tables.ts";
import { tryDecrypt } from "../../process/crypto.server.ts";
import { ReplyError } from "../errors.server.ts";

/** The model with its API key decrypted. Throws ReplyError if the key was stored under another master secret. */
export function openModel(model: ModelRow, modelKey: Buffer): ModelRow {
  if (model.apiKey === null) return model;
  const apiKey = tryDecrypt(model.apiKey, modelKey, model.id);
  if (apiKey === undefined) throw ReplyError.lostKey();
  return { ...model, apiKey };
}
