import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Api, openApi } from "../support/api.ts";
import { sqlite } from "../support/engines.ts";
import { modelAt, recorded, startRecorded } from "./recorded.ts";

let server: Awaited<ReturnType<typeof startRecorded>>;
let api: Api;
beforeAll(async () => {
  server = await startRecorded();
  api = await openApi(sqlite);
});
afterAll(async () => {
  await api.close();
  await server.stop();
});

it("fails a reply that cannot be stored, without asking again", async () => {
  const { token } = await api.signUp("Admin");
  const { baseUrl } = modelAt(server.url);
  const json = { name: "Modelo", provider: "openai-compatible", externalId: "x", baseUrl };
  const { id } = (await api.call("POST", "/api/model", { token, json })).body as { id: string };
  await sql`create trigger rota before update on messages when new.status = 'complete' begin select raise(abort, 'no'); end`.execute(
    api.db,
  );
  server.answer(...recorded.filter(({ name }) => name === "llama-cpp"));
  await api.converse(token, { content: "Hola", modelId: id });
  await expect
    .poll(() => api.db.selectFrom("messages").where("role", "=", "assistant").select(["status", "error"]).execute(), {
      timeout: 60_000,
    })
    .toEqual([{ status: "failed", error: expect.stringContaining("no se ha podido guardar entera") }]);
  expect(await api.services.runs.adopt()).toEqual({ resumed: 0, interrupted: 0 });
  expect(server.asked.filter(({ body }) => body.includes("Hola"))).toHaveLength(1);
});
