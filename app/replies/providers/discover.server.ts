import { v7 as newId } from "uuid";
import type { Db, Engine } from "../../db/engine.server.ts";
import { alone } from "../../db/processes/alone.server.ts";
import type { ModelRow } from "../../db/tables.ts";
import { encrypt, tryDecrypt } from "../../process/crypto.server.ts";
import type { Log } from "../../process/log.server.ts";
import { knownModel } from "./known-models.server.ts";
import {
  type ListedModel,
  listAt,
  type ModelServer,
  type Provider,
  type Providers,
  providersIn,
} from "./model-lists.server.ts";

type Needs = { db: Db; engine: Engine; log: Log; modelKey: Buffer };

// New models of one search: a gateway may list thousands.
const foundAtMost = 500;

// In ms, until silent servers are asked again.
const lookAgainAfter = 60_000;

/**
 * Creates the local assistant and the models of the configured providers. Existing models stay as the admin left them. A provider that has
 * models is not asked again, except Ollama, whose list changes. A server that does not answer is asked every minute until it does. `ready`
 * resolves after the first round, `stop` when no round is running any more; neither rejects.
 */
export function lookForModels(needs: Needs, config: Providers): { ready: Promise<void>; stop(): Promise<void> } {
  const { log } = needs;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const look = async (providers: Provider[], first: boolean) => {
    const silent = await addModelsOf(needs, providers, { warns: first });
    if (silent.length === 0 || stopped) return;
    timer = setTimeout(() => {
      round = orLogged(look(silent, false));
    }, lookAgainAfter).unref();
  };
  const begin = async () => {
    const has = await alone(needs, "models", () => withLocal(needs));
    await look(
      providersIn(config).filter(({ name }) => name === "ollama" || !has(name)),
      true,
    );
  };
  const orLogged = (work: Promise<void>) =>
    work.catch((error) => log.error({ err: error }, "no se pudieron buscar modelos"));
  const ready = orLogged(begin());
  let round = ready;
  return {
    ready,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await round;
    },
  };
}

/** Adds the local assistant if it is not there. Answers which providers have models. */
async function withLocal(needs: Needs): Promise<(provider: string) => boolean> {
  const existing = await needs.db.selectFrom("models").select(["provider"]).execute();
  const has = (provider: string) => existing.some((row) => row.provider === provider);
  if (!has("local")) await addModel(needs, localModel, { position: 1000, isDefault: existing.length === 0 });
  return has;
}

/**
 * Asks all configured providers once more, and the servers of the models that administrators have added. New models of these servers are
 * off until they are chosen; with `areOff`, all new models are off. Returns how many new models were found, and the hosts or names of the
 * servers that did not answer.
 */
export async function findNewModels(
  needs: Needs,
  config: Providers,
  { areOff = false } = {},
): Promise<{ found: number; silent: string[] }> {
  const count = async () => (await needs.db.selectFrom("models").select("id").execute()).length;
  const before = await count();
  const providers = providersIn(config);
  const silent = await addModelsOf(needs, providers, { warns: true, areOff });
  const silentServers = await addModelsOfServers(needs, providers);
  // Most installations have no Ollama at its usual address.
  const all = [...silent.filter(({ name }) => name !== "ollama"), ...silentServers];
  const names = all.map(({ baseUrl, name }) => URL.parse(baseUrl ?? "")?.host || name);
  return { found: (await count()) - before, silent: [...new Set(names)] };
}

/** `asked`: providers that have been asked already. Returns the servers that did not answer. */
async function addModelsOfServers(needs: Needs, asked: Provider[]): Promise<Pick<Provider, "name" | "baseUrl">[]> {
  const rows = await needs.db.selectFrom("models").where("enabled", "=", 1).selectAll().execute();
  const servers = new Map<string, ModelServer>();
  for (const row of rows) {
    const { provider, baseUrl } = row;
    if (asked.some((one) => one.name === provider && one.baseUrl === baseUrl)) continue;
    const apiKey = row.apiKey && (tryDecrypt(row.apiKey, needs.modelKey, row.id) ?? null);
    servers.set(JSON.stringify([provider, baseUrl]), { provider, baseUrl, apiKey });
  }
  const silent: Pick<Provider, "name" | "baseUrl">[] = [];
  const lists = await Promise.all(
    [...servers.values()].map((server) =>
      listAt(server)?.catch((error: Error) => {
        needs.log.warn({ provider: server.provider, err: error }, "un servidor de modelos no contesta");
        silent.push({ name: server.provider, baseUrl: server.baseUrl });
        return [];
      }),
    ),
  );
  const found = lists.flatMap((list) => list ?? []).slice(0, foundAtMost);
  await alone(needs, "models", async () => {
    const known = await needs.db.selectFrom("models").select(["provider", "externalId", "baseUrl"]).execute();
    const fresh = found.filter(
      (model) =>
        !known.some(
          (row) =>
            row.provider === model.provider && row.externalId === model.externalId && row.baseUrl === model.baseUrl,
        ),
    );
    for (const [index, model] of fresh.entries()) {
      await addModel(needs, model, { position: known.length + index, isDefault: false, enabled: 0 });
    }
  });
  return silent;
}

/**
 * Stores models that are not there yet; the first one replaces the local assistant as default. Returns the providers that did
 * not answer.
 */
async function addModelsOf(
  needs: Needs,
  providers: Provider[],
  { warns, areOff = false }: { warns: boolean; areOff?: boolean },
): Promise<Provider[]> {
  const { log } = needs;
  const answers = await Promise.allSettled(providers.map(({ list }) => list()));
  const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  const fresh = await alone(needs, "models", () => addFresh(needs, found, areOff));
  if (fresh.length > 0) log.info({ models: fresh.map(({ name }) => name) }, "modelos encontrados");
  return providers.filter(({ name }, index) => {
    const answer = answers[index];
    if (answer?.status !== "rejected") return false;
    // Not logged for Ollama, which most installations do not have.
    if (warns && name !== "ollama") {
      log.warn({ provider: name, err: answer.reason }, "un proveedor de modelos no contesta");
    }
    return true;
  });
}

/** Stores the found models that are not stored yet, and answers these. */
async function addFresh(needs: Needs, found: ListedModel[], areOff: boolean): Promise<ListedModel[]> {
  const existing = await needs.db.selectFrom("models").select(["provider", "externalId"]).execute();
  const fresh = found.filter(
    (model) => !existing.some((row) => row.provider === model.provider && row.externalId === model.externalId),
  );
  for (const [index, model] of fresh.entries()) {
    const position = existing.length + index;
    await addModel(needs, model, { position, isDefault: index === 0 && !areOff, enabled: areOff ? 0 : 1 });
  }
  return fresh;
}

const localModel: ListedModel = {
  provider: "local",
  externalId: "local",
  name: "Asistente local",
  baseUrl: null,
  apiKey: null,
  acceptsImages: 0,
  usesTools: 1,
  contextWindow: 32_768,
};

function isOnThisMachine(baseUrl: string | null, provider: ListedModel["provider"]): boolean {
  const host = baseUrl && URL.parse(baseUrl)?.hostname;
  return host ? /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(host) : provider === "ollama";
}

async function addModel(
  { db, modelKey }: Needs,
  { told, ...found }: ListedModel,
  { position, isDefault, enabled = 1 }: { position: number; isDefault: boolean; enabled?: ModelRow["enabled"] },
): Promise<void> {
  const now = Date.now();
  const id = newId();
  const known = knownModel(found);
  const contextWindow = told?.window ?? known?.contextWindow ?? found.contextWindow;
  await db.transaction().execute(async (trx) => {
    if (isDefault) {
      // Only the local assistant is replaced; a default that an admin chose stays.
      const chosen = await trx
        .selectFrom("models")
        .where("isDefault", "=", 1)
        .where("provider", "!=", "local")
        .select("id")
        .executeTakeFirst();
      if (chosen) isDefault = false;
      else await trx.updateTable("models").set({ isDefault: 0 }).execute();
    }
    await trx
      .insertInto("models")
      .values({
        id,
        createdAt: now,
        updatedAt: now,
        ...found,
        contextWindow,
        apiKey: found.apiKey && encrypt(found.apiKey, modelKey, id),
        // Half of a small window is left for the conversation.
        maxOutputTokens: Math.min(8_192, Math.floor(contextWindow / 2)),
        temperature: null,
        pseudonyms: 0,
        resumes: 1,
        // `helpsSearch`: a model on the same machine costs nothing.
        purpose: "",
        helpsSearch: found.provider !== "local" && isOnThisMachine(found.baseUrl, found.provider) ? 1 : 0,
        refused: "",
        systemPrompt: "",
        inputPrice: known?.inputPrice ?? null,
        outputPrice: known?.outputPrice ?? null,
        cachedPrice: known?.cachedPrice ?? null,
        enabled,
        isDefault: isDefault ? 1 : 0,
        position,
      })
      .execute();
  });
}
