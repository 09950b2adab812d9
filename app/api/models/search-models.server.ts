import { z } from "@hono/zod-openapi";
import { SearchModel, type TriedModel } from "../../embeddings/search-model.server.ts";
import type { Services } from "../env.server.ts";
import type { Resource } from "../http/resource.server.ts";
import { flag, flagsOf, line, rowFields, text, timesOf } from "../http/schemas.server.ts";
import { keyToStore, refuseUnanswered, serverAddress, serverKey } from "./model-server.server.ts";

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

// In ms: a server may have to load the model first.
const triedWithin = 30_000;

/** Embedding models, with which search also finds texts that use other words. For admins alone. */
export const searchModels: Resource<"searchModels", typeof shown, typeof body> = {
  table: "searchModels",
  name: "searchModel",
  shown,
  body,
  show: ({ apiKey, ...row }) => ({
    ...row,
    ...timesOf(row),
    ...flagsOf(row, "enabled"),
    hasKey: apiKey !== null,
  }),
  async columns(given, { services, id, before }) {
    const columns = { ...given, apiKey: keyToStore(services.modelKey, { id, ...given }, before), problem: null };
    if (given.enabled) await refuseUnanswered(tried(services, { id, ...columns }));
    return columns;
  },
  serially: true,
  async inTransaction(trx, { id, enabled }) {
    if (enabled === 0) return;
    await trx.updateTable("searchModels").set({ enabled: 0 }).where("id", "!=", id).execute();
  },
  list: {
    searched: ["name", "externalId", "baseUrl"],
    sortable: [
      { text: "name", direction: "asc" },
      { text: "externalId", direction: "asc" },
      { text: "baseUrl", direction: "asc" },
      { number: "enabled", direction: "desc" },
      { text: "problem", direction: "asc", mayBeEmpty: true },
    ],
    filters: { enabled: "flag" },
  },
};

/** Asks a model for the embedding of a question. */
function tried(services: Services, model: TriedModel): Promise<unknown> {
  const within = AbortSignal.timeout(triedWithin);
  return new SearchModel(services).meaningsOf(model, ["¿Cuántos días de vacaciones hay?"], within);
}
