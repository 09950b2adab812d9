import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Chunk } from "../../app/replies/chunk.ts";
import { placeIn, roundOf, Turns } from "../../app/replies/turns.server.ts";
import { type Account, type Api, openApi, textOf } from "../support/api.ts";
import { streamed } from "../support/doors.ts";
import { ruleEngines } from "../support/engines.ts";

/** Answers that the model server owes, by the question, in the order of asking. */
const owed: { question: string; response: ServerResponse }[] = [];
const server = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  if (body.includes("Pon título")) return response.end(streamed("Un título"));
  const [, question = ""] = /pregunta (\w+)/.exec(body) ?? [];
  owed.push({ question, response });
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe("the place of a turn", () => {
  /** Turns of these people as they arrive, the first ones taken. */
  function arrived(people: string[], taken: number) {
    const turns: { id: string; userId: string; round: number; place: number }[] = [];
    for (const [n, userId] of people.entries()) {
      turns.push({ id: String(n), userId, round: roundOf(turns, userId), place: n < taken ? 0 : 1 });
      turns.sort((a, b) => a.round - b.round || a.id.localeCompare(b.id));
    }
    return turns;
  }
  const places = (people: string[], taken: number, atOnce: number) => {
    const turns = arrived(people, taken);
    return people.map((_, n) => {
      const own = turns.find(({ id }) => id === String(n));
      return own && placeIn(turns, own, atOnce);
    });
  };

  it("follows arrival, with each person's first request before any second", () => {
    expect(places(["ana", "ana", "ana", "berta", "carla", "berta"], 1, 1)).toEqual([0, 3, 5, 1, 2, 4]);
    expect(places(["ana", "ana", "ana", "berta", "carla", "berta"], 1, 3)).toEqual([0, 1, 3, 0, 0, 2]);
  });

  it("stays taken when the limit is lowered under it", () => {
    expect(places(["ana", "berta", "carla"], 2, 1)).toEqual([0, 0, 1]);
  });
});

for (const engine of await ruleEngines()) {
  describe(`a model that answers one at once, on ${engine.name}`, () => {
    let api: Api;
    let modelId: string;
    let people: Account[];
    beforeAll(async () => {
      api = await openApi(engine);
      const admin = await api.signUp("Admin");
      people = [await api.signUp("Ana"), await api.signUp("Berta"), await api.signUp("Carla")];
      const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
      const json = { name: "uno", provider: "openai-compatible", externalId: "uno", baseUrl, atOnce: 1 };
      const made = await api.call("POST", "/api/model", { token: admin.token, json });
      expect(made.status, made.text).toBe(201);
      modelId = (made.body as { id: string }).id;
    });
    afterAll(() => api.close());

    const ask = (who: number, question: string): Promise<Chunk[]> =>
      api.converse(people[who]?.token ?? "", { content: `pregunta ${question}`, modelId });
    /** Waits until the model server is asked something, and answers it. */
    async function answer(): Promise<string> {
      const [{ question, response }] = await vi.waitFor(() => {
        const [first] = owed.splice(0, 1);
        if (!first) throw new Error("nothing asked yet");
        return [first];
      });
      response.writeHead(200, { "Content-Type": "text/event-stream" }).end(streamed(`respuesta ${question}`));
      return question;
    }
    const waiting = (count: number) =>
      vi.waitFor(async () => {
        const rows = await api.db
          .selectFrom("turns")
          .where("place", ">", 0)

          .selectAll()
          .execute();
        expect(rows).toHaveLength(count);
      });
    const placesIn = (chunks: Chunk[]) => chunks.flatMap((chunk) => (chunk.type === "turn" ? [chunk.place] : []));

    it("queues requests fairly between people and shows each position", async () => {
      const asked = [ask(0, "a1")];
      await vi.waitFor(() => expect(owed).toHaveLength(1));
      for (const [who, question] of [
        [0, "a2"],
        [1, "b1"],
        [2, "c1"],
      ] as const) {
        asked.push(ask(who, question));
        await waiting(asked.length - 1);
      }
      expect(owed).toHaveLength(1);
      const order: string[] = [];
      for (let n = 0; n < 4; n++) {
        order.push(await answer());
        expect(owed.length).toBeLessThanOrEqual(1);
      }
      expect(order).toEqual(["a1", "b1", "c1", "a2"]);
      const replies = await Promise.all(asked);
      expect(replies.map(textOf)).toEqual(["respuesta a1", "respuesta a2", "respuesta b1", "respuesta c1"]);
      expect(placesIn(replies[0] ?? [])).toEqual([]);
      // The first of another goes before the second of one, who comes to know it when it happens.
      expect(placesIn(replies[1] ?? []).at(0)).toBe(1);
      expect(placesIn(replies[3] ?? [])).toContain(1);
      expect(await api.db.selectFrom("turns").selectAll().execute()).toEqual([]);
    });

    it("drops cancelled requests, those of programs included, and continues", async () => {
      const first = ask(0, "a1");
      await vi.waitFor(() => expect(owed).toHaveLength(1));
      const { messageId } = await api.start(people[1]?.token ?? "", { content: "pregunta b1", modelId });
      await waiting(1);
      const key = await api.call("POST", "/api/key", {
        token: people[2]?.token ?? "",
        json: { name: "p", scope: "write" },
      });
      const gone = new AbortController();
      const json = { model: modelId, messages: [{ role: "user", content: "pregunta programa" }] };
      const left = api
        .fetch("/chat/completions", (key.body as { token: string }).token, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(json),
          signal: gone.signal,
        })
        .catch(() => undefined);
      await waiting(2);
      gone.abort();
      await waiting(1);
      const stop = `/api/intelligence/conversation/${messageId}/stop`;
      expect((await api.call("POST", stop, { token: people[1]?.token ?? "" })).status).toBeLessThan(300);
      await waiting(0);
      expect(await answer()).toBe("a1");
      await Promise.all([first, left]);
      const next = ask(1, "b2");
      expect(await answer()).toBe("b2");
      await next;
    });

    const model = () => ({ id: modelId, atOnce: 1 });
    const turnsOf = (processId?: string) => {
      const { db, engine: kind, processes, log } = api.services;
      return new Turns({ db, engine: kind, processes: processId ? { id: processId } : processes, log });
    };
    const askedBy = (who: number) => ({
      ...{ userId: people[who]?.id ?? "", messageId: null, tell: () => {} },
      signal: new AbortController().signal,
    });
    const limit = (atOnce: number | null) =>
      api.db.updateTable("models").set({ atOnce }).where("id", "=", modelId).execute();

    it("comes to somebody's second request, however often others come back", async () => {
      const turns = turnsOf();
      let leave = await turns.take(model(), askedBy(0));
      const second = turns.take(model(), askedBy(0));
      await waiting(1);
      let others = 0;
      let isOver = false;
      const end = second.then((given) => {
        isOver = true;
        return given;
      });
      while (!isOver && others < 20) {
        const next = turns.take(model(), askedBy(1 + (others % 2)));
        await waiting(2);
        await leave();
        const first = await Promise.race([end, next]);
        leave = first;
        if (!isOver) others++;
        else void next.then((given) => given());
      }
      expect(others).toBeLessThanOrEqual(2);
      await leave();
      await vi.waitFor(async () => expect(await api.db.selectFrom("turns").selectAll().execute()).toEqual([]));
    });

    it("applies a changed or removed limit while a request waits", async () => {
      const turns = turnsOf();
      const first = await turns.take(model(), askedBy(0));
      const second = turns.take(model(), askedBy(1));
      await waiting(1);
      await limit(2);
      const third = turns.take(model(), askedBy(2));
      const given = await second;
      await limit(null);
      for (const leave of [first, given, await third]) await leave();
      await limit(1);
    });

    it("is freed when the process holding its turn is gone", async () => {
      const gone = turnsOf(crypto.randomUUID());
      await gone.take(model(), askedBy(0));
      const turns = turnsOf();
      await (await turns.take(model(), askedBy(1)))();
      expect(await api.db.selectFrom("turns").selectAll().execute()).toEqual([]);
    });

    it("is one for all processes", async () => {
      const { db, services } = api;
      const make = () => new Turns({ db, engine: services.engine, processes: services.processes, log: services.log });
      const [one, other] = [make(), make()];
      const { signal } = new AbortController();
      const asked = { userId: people[0]?.id ?? "", messageId: null, signal, tell: () => {} };
      const model = { id: modelId, atOnce: 1 };
      const leave = await one.take(model, asked);
      let taken = false;
      const second = other.take(model, asked).then((given) => {
        taken = true;
        return given;
      });
      await waiting(1);
      expect(taken).toBe(false);
      await leave();
      await (await second)();
      expect(await db.selectFrom("turns").selectAll().execute()).toEqual([]);
    });
  });
}
