import type { Db } from "../../db/engine.server.ts";
import type { ModelRow } from "../../db/tables.ts";
import { tryDecrypt } from "../../process/crypto.server.ts";
import type { Log } from "../../process/log.server.ts";
import { ReplyError } from "../errors.server.ts";
import type { Learned } from "./model-call.server.ts";
import { storeRefused } from "./refused-parameters.server.ts";

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

// Decrypted keys by master key, model and encrypted form, so that not every reply decrypts one.
const opened = new WeakMap<Buffer, Map<string, string>>();
const keptOpen = 50;

/** Stores with a model what has turned out about its server. Logged where that fails: the reply does not depend on it. */
export async function storeLearned(
  { db, log }: { db: Db; log: Log },
  model: Pick<ModelRow, "id" | "baseUrl">,
  { refused, baseUrl }: Learned,
): Promise<void> {
  try {
    log.info({ modelId: model.id, refused, baseUrl }, "el servidor de un modelo no es como se creía");
    if (refused) await storeRefused(db, model, refused);
    if (baseUrl) {
      const here = db.updateTable("models").where("id", "=", model.id).where("baseUrl", "=", model.baseUrl);
      await here.set({ baseUrl }).execute();
    }
  } catch (error) {
    log.error({ modelId: model.id, err: error }, "no se pudo guardar lo que el servidor de un modelo no admite");
  }
}
