import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BucketStorage } from "../../app/files/storage/bucket.server.ts";
import { copyStorage } from "../../app/files/storage/copy.server.ts";
import { FolderStorage } from "../../app/files/storage/folder.server.ts";
import { openStorage } from "../../app/files/storage/open.server.ts";
import { createLog } from "../../app/process/log.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";
import { S3Store } from "../support/s3-store.ts";

let store: S3Store;
beforeAll(async () => {
  store = await S3Store.start();
});
afterAll(() => store.delete());

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

async function namesIn(storage: BucketStorage): Promise<string[]> {
  const names: string[] = [];
  for await (const { id, variant } of storage.list()) names.push(`${id}.${variant}`);
  return names;
}

describe.each(await queryEngines())("files in a bucket, on $name", (engine) => {
  let api: Api;
  let ana: Account;
  let storage: BucketStorage;
  beforeAll(async () => {
    storage = new BucketStorage(store.settings(`${engine.name}/`));
    api = await openApi(engine, { storage });
    ana = await api.signUp("Ana");
  });
  afterAll(async () => {
    await store.start();
    await api.close();
    storage.close();
  });

  const send = async (...files: File[]) => {
    const answer = await api.upload(ana.token, files);
    return { ...answer, ids: ((answer.body as { items?: { id: string }[] }).items ?? []).map(({ id }) => id) };
  };
  const content = (id: string, variant = "original") =>
    api.call("GET", `/api/file/${id}/content?variant=${variant}`, { token: ana.token });

  it("stores, reads, exports and deletes a file with its bytes", async () => {
    const { ids } = await send(new File([png], "punto.png"), new File(["Hola, Soria"], "hola.txt"));
    const [image = "", text = ""] = ids;
    expect((await content(text)).text).toBe("Hola, Soria");
    expect((await content(text)).headers.get("Content-Length")).toBe("11");
    expect((await content(image, "preview")).headers.get("Content-Type")).toBe("image/jpeg");
    expect(await namesIn(storage)).toHaveLength(4);
    const zip = await api.call("GET", `/api/user/${ana.id}/export`, { token: ana.token });
    expect(zip.text).toContain("archivos/hola");
    for (const id of ids) {
      expect((await api.call("DELETE", `/api/file/${id}`, { token: ana.token })).status).toBe(204);
    }
    expect(await namesIn(storage)).toEqual([]);
  });

  it("answers 404 with the reason when stored bytes are lost", async () => {
    const { ids } = await send(new File(["Hola"], "perdido.txt"));
    await storage.delete(ids);
    const answer = await content(ids[0] ?? "");
    expect(answer.status).toBe(404);
    expect(answer.text).toContain("ya no está en el servidor");
  });

  it("keeps recent bytes without a file and those of files", async () => {
    const { ids } = await send(new File(["Hola"], "hola.txt"));
    await storage.put("0000-orphan", "original", Buffer.from("de nadie"));
    await api.services.files.sweep();
    // They may be of an upload that is still coming.
    expect(await namesIn(storage)).toContain("0000-orphan.original");
    expect(await namesIn(storage)).toContain(`${ids[0]}.original`);
  });

  it("reports an unavailable store and serves again once it returns", async () => {
    const { ids } = await send(new File(["Antes"], "antes.txt"));
    const tag = (await content(ids[0] ?? "")).headers.get("ETag") ?? "";
    await store.stop();
    // A browser that has it already is answered without the store.
    const had = await api.fetch(`/api/file/${ids[0]}/content`, ana.token, { headers: { "If-None-Match": tag } });
    expect(had.status).toBe(304);
    const read = await content(ids[0] ?? "");
    const sent = await send(new File(["Después"], "despues.txt"));
    for (const answer of [read, sent]) {
      expect(answer.status).toBe(503);
      expect(answer.text).toContain("El almacén de archivos no contesta");
    }
    await store.start();
    expect((await content(ids[0] ?? "")).text).toBe("Antes");
    expect((await send(new File(["Después"], "despues.txt"))).status).toBe(201);
    const list = await api.call("GET", "/api/file?q=despues", { token: ana.token });
    expect((list.body as { items: unknown[] }).items).toHaveLength(1);
  });
});

describe("a bucket", () => {
  const folder = mkdtempSync(join(tmpdir(), "tertulia-copy-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  it("takes and gives 200 MB without holding them", async () => {
    const path = join(folder, "large");
    writeFileSync(path, Buffer.alloc(200_000_000, 7));
    const storage = new BucketStorage(store.settings("large/"));
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    // Held memory, without garbage that has only not been collected yet. Collecting holds the process up, so it is not done all the time.
    const held = () => {
      collect();
      return process.memoryUsage().arrayBuffers;
    };
    const before = held();
    let most = 0;
    const watching = setInterval(() => {
      most = Math.max(most, held());
    }, 250);
    await storage.put("019a-large", "original", path);
    const content = await storage.stream("019a-large", "original");
    let size = 0;
    for await (const part of content?.read() ?? []) size += part.byteLength;
    clearInterval(watching);
    expect([size, content?.size]).toEqual([200_000_000, 200_000_000]);
    // Some parts are under way at once, more of them on a busy machine; all of it would be 200 MB.
    expect(most - before).toBeLessThan(150_000_000);
    storage.close();
  });

  it("stores streams, reads ranges, and keeps nothing of failed uploads", async () => {
    const storage = new BucketStorage(store.settings("made/"));
    // Three parts of an upload and a bit.
    const pieces = Array.from({ length: 26 }, (_, n) => Buffer.alloc(1_000_000, n));
    const made = async function* (upTo: number) {
      yield* pieces.slice(0, upTo);
      if (upTo < pieces.length) throw new Error("no more");
    };
    await storage.put("019a-made", "original", made(pieces.length));
    const content = await storage.stream("019a-made", "original");
    expect(content?.size).toBe(26_000_000);
    const part: Uint8Array[] = [];
    for await (const bytes of content?.read({ start: 8_999_998, end: 9_000_001 }) ?? []) part.push(bytes);
    expect([...Buffer.concat(part)]).toEqual([8, 8, 9, 9]);
    await expect(storage.put("019a-half", "original", made(20))).rejects.toThrow("no more");
    expect(await storage.stream("019a-half", "original")).toBeUndefined();
    storage.close();
  });

  it("receives files of a folder in a resumable copy", async () => {
    const from = new FolderStorage(join(folder, "files"));
    const to = new BucketStorage(store.settings("copied/"));
    for (let n = 0; n < 30; n++) await from.put(`019a-${n}`, "original", Buffer.from(`contenido ${n}`));
    // As if a copy had been broken off, and one object had been changed by somebody.
    await to.put("019a-3", "original", Buffer.from("contenido 3"));
    await to.put("019a-4", "original", Buffer.from("contenido 5"));
    expect(await copyStorage(from, to)).toEqual({ files: 30, copied: 29, bytes: expect.any(Number) });
    expect(await copyStorage(from, to)).toMatchObject({ files: 30, copied: 0 });
    expect((await to.read("019a-4", "original"))?.toString()).toBe("contenido 4");
    to.close();
  });

  it.each([
    ["no such bucket", { bucket: "no-existe" }, "no hay un contenedor con ese nombre"],
    ["wrong keys", { keys: { accessKeyId: "NADIE", secretAccessKey: "nada" } }, "no conoce AWS_ACCESS_KEY_ID"],
  ])("stops the start with a sentence when misconfigured: %s", async (_, wrong, sentence) => {
    const bucket = { ...store.settings(), ...wrong };
    await expect(openStorage({ dataDir: folder, bucket }, createLog("silent"))).rejects.toThrow(sentence);
  });

  it("lets the server start when it does not answer", async () => {
    const bucket = { ...store.settings(), endpoint: "http://127.0.0.1:9" };
    const storage = await openStorage({ dataDir: folder, bucket }, createLog("silent"));
    await expect(storage.read("019a-1", "original")).rejects.toThrow();
    storage.close();
  });

  it("fails an upload that is never answered, within a minute", async () => {
    const mute = createServer((request) => request.resume()).listen(0, "127.0.0.1");
    await once(mute, "listening");
    const { port } = mute.address() as AddressInfo;
    const storage = new BucketStorage({ ...store.settings(), endpoint: `http://127.0.0.1:${port}` });
    await expect(storage.put("019a-1", "original", Buffer.from("Hola"))).rejects.toThrow();
    storage.close();
    mute.closeAllConnections();
    mute.close();
  }, 60_000);
});
