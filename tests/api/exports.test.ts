import { randomBytes } from "node:crypto";
import { ReadableStream as WebStream } from "node:stream/web";
import { unzipSync } from "fflate";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { exportAccount } from "../../app/api/users/export.server.ts";
import type { Storage } from "../../app/files/storage/storage.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { password } from "../support/password.ts";

type Prepared = { id: string; state: string; result: { name: string; size: number } };

describe.each(await ruleEngines())("what somebody has, prepared to be downloaded, on $name", (engine) => {
  let api: Api;
  let admin: Account;
  let ana: Account;
  // Long enough to be read in several parts.
  const photo = randomBytes(60_000).toString("hex");
  beforeAll(async () => {
    api = await openApi(engine);
    admin = await api.signUp("Admin");
  });
  beforeEach(async () => {
    ana = await api.signUp("Ana");
    await api.converse(ana.token, { content: "Para llevar" });
    await api.upload(ana.token, [new File([photo], "medidas.txt")]);
  });
  afterAll(() => api.close());

  const path = () => `/api/user/${ana.id}/export`;
  async function prepare({ token }: Account): Promise<Prepared> {
    const { status, body } = await api.call("POST", path(), { token });
    expect(status).toBe(201);
    return body as Prepared;
  }
  const download = (id: string, { token }: Account, headers: Record<string, string> = {}) =>
    api.fetch(`${path()}/${id}`, token, { headers });
  const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());

  it("matches the immediate ZIP, with its size and name", async () => {
    const { id, state, result } = await prepare(ana);
    expect([state, result.name]).toEqual(["done", expect.stringMatching(/^tertulia-\d{4}-\d\d-\d\d\.zip$/)]);
    const answer = await download(id, ana);
    expect(answer.headers.get("Content-Disposition")).toBe(`attachment; filename="${result.name}"`);
    expect(answer.headers.get("Content-Length")).toBe(String(result.size));
    const prepared = unzipSync(await bytesOf(answer));
    const now = unzipSync(await bytesOf(await api.fetch(path(), ana.token)));
    expect(Object.keys(prepared)).toEqual(Object.keys(now));
    expect(Object.keys(prepared)).toHaveLength(4);
    expect(Buffer.from(prepared[Object.keys(prepared).at(-1) ?? ""] ?? []).toString()).toBe(photo);
  });

  it("contains templates, assistants and scheduled questions, but no secrets", async () => {
    const { token } = ana;
    await api.call("POST", "/api/template", { token, json: { title: "Saludo", content: "Hola, {{nombre}}" } });
    await api.call("POST", "/api/assistant", { token, json: { name: "Gestor", instructions: "Con calma." } });
    const asked = { content: "¿Qué hay hoy?", days: [1], time: "08:00", zone: "Europe/Madrid" };
    await api.call("POST", "/api/schedule", { token, json: asked });
    const { "datos.json": data } = unzipSync(await bytesOf(await api.fetch(path(), token)));
    const text = Buffer.from(data ?? []).toString();
    expect(JSON.parse(text)).toMatchObject({
      templates: [{ title: "Saludo", content: "Hola, {{nombre}}" }],
      assistants: [{ name: "Gestor", instructions: "Con calma." }],
      schedules: [{ content: "¿Qué hay hoy?" }],
    });
    expect(text).not.toMatch(/Hash|"token"|"endpoint"/);
  });

  it("resumes a broken download as long as it is unchanged", async () => {
    const { id, result } = await prepare(ana);
    const whole = await download(id, ana);
    const tag = whole.headers.get("ETag") ?? "";
    const all = await bytesOf(whole);
    const rest = await download(id, ana, { Range: "bytes=30000-", "If-Range": tag });
    expect([rest.status, rest.headers.get("Content-Range")]).toEqual([
      206,
      `bytes 30000-${result.size - 1}/${result.size}`,
    ]);
    expect(rest.headers.get("Content-Length")).toBe(String(result.size - 30_000));
    expect(await bytesOf(rest)).toEqual(all.subarray(30_000));
    const middle = await download(id, ana, { Range: "bytes=5-14" });
    expect(await bytesOf(middle)).toEqual(all.subarray(5, 15));
    const last = await download(id, ana, { Range: "bytes=-7" });
    expect(await bytesOf(last)).toEqual(all.subarray(-7));
    const beyond = await download(id, ana, { Range: `bytes=${result.size - 3}-${result.size + 50}` });
    expect(await bytesOf(beyond)).toEqual(all.subarray(-3));
    const other = await download(id, ana, { Range: "bytes=5-14", "If-Range": '"another"' });
    expect([other.status, (await bytesOf(other)).length]).toEqual([200, result.size]);
  });

  it.each([
    ["none of it", (size: number) => `bytes=${size}-`, 416],
    ["what is far behind its end", () => "bytes=99999999999-99999999999999", 416],
    ["the end before the beginning", () => "bytes=9-2", 200],
    ["the last 0 bytes", () => "bytes=-0", 416],
    ["several parts", () => "bytes=0-1,4-5", 200],
    ["something else", () => "lines=1-2", 200],
    ["nothing", () => "bytes=-", 200],
  ])("answers who asks for %s", async (_what, range, status) => {
    const { id, result } = await prepare(ana);
    const answer = await download(id, ana, { Range: range(result.size) });
    expect([answer.status, (await bytesOf(answer)).length]).toEqual([status, status === 200 ? result.size : 0]);
    expect(answer.headers.get("Content-Range")).toBe(status === 416 ? `bytes */${result.size}` : null);
  });

  it("stops reading files when the person leaves an immediate download", async () => {
    const opened: string[] = [];
    const closed: string[] = [];
    const { db, log, storage } = api.services;
    const watched: Storage = Object.assign(Object.create(storage), {
      async stream(...asked: Parameters<Storage["stream"]>) {
        const content = await storage.stream(...asked);
        return content && { ...content, read: () => watch(asked[0], content.read()) };
      },
    });
    const watch = (id: string, body: ReadableStream<Uint8Array>) =>
      WebStream.from(
        (async function* () {
          opened.push(id);
          try {
            yield* body;
          } finally {
            closed.push(id);
          }
        })(),
      ) as unknown as ReadableStream<Uint8Array>;
    let read = 0;
    for await (const bytes of exportAccount({ db, log, storage: watched, config: { aiNotice: "" } }, ana.id)) {
      read += bytes.length;
      if (opened.length > 0) break;
    }
    expect(opened).toHaveLength(1);
    await vi.waitFor(() => expect(closed).toEqual(opened));
    expect(read).toBeLessThan(photo.length);
  });

  it("nobody else prepares or reads it, and who administers neither", async () => {
    const bea = await api.signUp("Bea");
    const { id } = await prepare(ana);
    for (const other of [bea, admin]) {
      expect((await api.call("POST", path(), { token: other.token })).status).toBe(404);
      expect((await download(id, other)).status).toBe(404);
      const asOwn = await api.call("GET", `/api/user/${other.id}/export/${id}`, { token: other.token });
      expect(asOwn.status).toBe(404);
    }
    expect((await api.call("GET", `${path()}/${id}`)).status).toBe(401);
  });

  it("replaces what was prepared before, whose bytes are gone", async () => {
    const first = await prepare(ana);
    const second = await prepare(ana);
    expect(second.id).not.toBe(first.id);
    expect((await download(first.id, ana)).status).toBe(404);
    expect(await api.services.storage.stream(first.id, "original")).toBeUndefined();
    expect((await download(second.id, ana)).status).toBe(200);
  });

  it("is there until the next one is", async () => {
    const { id } = await prepare(ana);
    // An export that can't be prepared: the machine has no room.
    const { put } = api.services.storage;
    api.services.storage.put = async () => {
      throw Object.assign(new Error("full"), { code: "ENOSPC" });
    };
    const failed = await api.call("POST", path(), { token: ana.token });
    api.services.storage.put = put;
    expect([failed.status, (failed.body as Prepared).state]).toEqual([202, "failed"]);
    expect((await download(id, ana)).status).toBe(200);
    const list = await api.call("GET", `/api/user/${ana.id}/exports`, { token: ana.token });
    expect((list.body as { items: Prepared[] }).items.map(({ state }) => state)).toEqual(["failed", "done"]);
  });

  it("answers a cached copy with 304 and HEAD without ranges", async () => {
    const { id, result } = await prepare(ana);
    const tag = (await download(id, ana)).headers.get("ETag") ?? "";
    const again = await download(id, ana, { "If-None-Match": tag });
    expect([again.status, (await bytesOf(again)).length]).toEqual([304, 0]);
    const head = await api.fetch(`${path()}/${id}`, ana.token, { method: "HEAD", headers: { Range: "bytes=0-4" } });
    expect([head.status, head.headers.get("Content-Length")]).toEqual([200, String(result.size)]);
  });

  it("asked for several times at once is prepared once", async () => {
    const ask = async () => (await api.call("POST", path(), { token: ana.token })).body as Prepared;
    const asked = await Promise.all([ask(), ask(), ask(), ask()]);
    expect(new Set(asked.map(({ id }) => id)).size).toBe(1);
    expect(await api.services.jobs.ended(asked[0]?.id ?? "", 10_000)).toMatchObject({ state: "done" });
  });

  it("goes with the account, at once", async () => {
    const carla = await api.signUp("Carla");
    const { body } = await api.call("POST", `/api/user/${carla.id}/export`, { token: carla.token });
    const { id } = body as Prepared;
    expect(await api.services.storage.stream(id, "original")).toBeDefined();
    const deleted = await api.call("DELETE", `/api/user/${carla.id}`, {
      token: carla.token,
      json: { currentPassword: password },
    });
    expect(deleted.status).toBe(204);
    expect(await api.services.storage.stream(id, "original")).toBeUndefined();
  });

  it("is limited to ten preparations per hour", async () => {
    const eva = await api.signUp("Eva");
    const ask = () => api.call("POST", `/api/user/${eva.id}/export`, { token: eva.token });
    for (let n = 0; n < 10; n++) expect((await ask()).status).toBe(201);
    expect((await ask()).status).toBe(429);
  });
});
