import type { ModelRow } from "../db/tables.ts";
import { tryDecrypt } from "../secrets.server.ts";
import { ReplyError } from "./errors.server.ts";

/** A model with its key in clear. Throws ReplyError where the key was stored under another master secret. */
export function openModel(model: ModelRow, modelKey: Buffer): ModelRow {
  if (model.apiKey === null) return model;
  const apiKey = tryDecrypt(model.apiKey, modelKey, model.id);
  if (apiKey === undefined) throw ReplyError.lostKey();
  return { ...model, apiKey };
}
