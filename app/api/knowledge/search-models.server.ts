import { z } from "@hono/zod-openapi";
import { SearchModel } from "../../embeddings/search-model.server.ts";
import { ReplyError } from "../../replies/errors.server.ts";
import type { Resource } from "../http/crud.server.ts";
import { invalid } from "../http/problem.server.ts";
import { flag, line, rowFields, text, timesOf } from "../http/schemas.server.ts";
import { keyToStore, serverAddress, serverKey } from "../models/model-server.server.ts";

const fields = {
  name: line("El nombre", 60, 1),
  externalId: line("El identificador", 200, 1),
  baseUrl: serverAddress,
  questionPrefix: text("Lo que va delante de una pregunta", 500).default(""),
  passagePrefix: text("Lo que va delante de un pasaje", 500).default(""),
  enabled: flag
    .default(true)
    .openapi({ description: "Si se busca con él. Solo uno a la vez: activar este apaga los otros." }),
};
const body = z.strictObject({
  ...fields,
  apiKey: serverKey,
});
const shown = z
  .object({
    ...rowFields,
    ...fields,
    baseUrl: z.string(),
    hasKey: z.boolean(),
    problem: z.string().nullable().openapi({ description: "Por qué no contestó la última vez; null: contestó." }),
  })
  .openapi("SearchModel");

// In ms: a server may have to load it first.
const triedWithin = 30_000;

/** Models that say what texts mean, so that search also finds what is said in other words. For admins alone. */
export const searchModels: Resource<"searchModels", typeof shown, typeof body> = {
  table: "searchModels",
  name: "searchModel",
  shown,
  body,
  method: "put",
  show: ({ apiKey, enabled, ...row }) => ({ ...row, ...timesOf(row), enabled: enabled === 1, hasKey: apiKey !== null }),
  columns: ({ enabled = true, ...given }) => ({ ...given, enabled: enabled ? 1 : 0 }),
  // What comes is the new key as it was written, or null.
  complete: ({ modelKey }, row, before) => ({ ...row, apiKey: keyToStore(modelKey, row, before), problem: null }),
  async check({ db, modelKey, log }, row) {
    if (row.enabled === 0) return;
    const model = new SearchModel({ db, modelKey, log });
    await model
      .meaningsOf(row, ["¿Cuántos días de vacaciones hay?"], AbortSignal.timeout(triedWithin))
      .catch((error) => {
        if (!(error instanceof ReplyError)) throw error;
        throw invalid("baseUrl", `Se ha probado, y no va. ${error.message}`);
      });
  },
  async stored(db, { id, enabled }) {
    if (enabled === 0) return;
    await db.updateTable("searchModels").set({ enabled: 0 }).where("id", "!=", id).execute();
  },
  list: {
    table: "searchModels",
    searched: ["name", "externalId", "baseUrl"],
    sortable: [{ column: "name", direction: "asc" }],
    filters: { enabled: "flag" },
  },
};
