import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";
import { hasLlama, startLlama } from "../support/llama.ts";
import { freePort } from "../support/server.ts";

const rules = [
  "La bicicleta se deja en el patio.",
  "El comedor abre de una a cuatro.",
  "Las visitas firman a la entrada.",
];
// One token for each byte: more than the 512 of a batch, into which llama.cpp wants the whole of a text.
const long = `Acta de la reunión. ${"Se acuerda seguir como hasta ahora. ".repeat(22)}`;

// Its weights are random: the same text means the same, and nothing else is to be expected of it.
describe.runIf(hasLlama()).each(await queryEngines())("llama.cpp's server as a search model on $name", (engine) => {
  let api: Api;
  let admin: Account;
  let llama: { stop(): Promise<void> };
  let baseUrl: string;
  beforeAll(async () => {
    const port = await freePort();
    baseUrl = `http://127.0.0.1:${port}/v1`;
    llama = startLlama(port, 2_048, [
      "--embeddings",
      "--pooling",
      "mean",
      "--batch-size",
      "512",
      "--ubatch-size",
      "512",
    ]);
    await vi.waitFor(async () => expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200), {
      timeout: 30_000,
      interval: 200,
    });
    api = await openApi(engine);
    admin = await api.signUp("Admin");
    const files = [...rules, long].map((text, index) => new File([text], `norma-${index}.txt`));
    await api.upload(admin.token, files);
  });
  afterAll(async () => {
    await api.close();
    await llama.stop();
  });

  it("embeds passages and questions, skipping passages that are too long", async () => {
    const json = { name: "En casa", externalId: "diminuto", baseUrl };
    expect((await api.call("POST", "/api/search-model", { token: admin.token, json })).status).toBe(201);
    const known = () => api.db.selectFrom("vectors").select("fileId").distinct().execute();
    await vi.waitFor(async () => expect(await known()).toHaveLength(rules.length), { timeout: 30_000, interval: 300 });
    const answer = await api.call("POST", "/embeddings", { token: admin.token, json: { model: "x", input: rules } });
    const { data } = answer.body as { data: { embedding: number[] }[] };
    expect(data).toHaveLength(rules.length);
    const meaning = await api.services.searchModel.meaningOf("¿Dónde se deja la bicicleta?");
    expect(meaning?.vector).toHaveLength(data[0]?.embedding.length ?? 0);
  });
});
