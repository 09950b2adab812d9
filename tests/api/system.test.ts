import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { extract } from "tar";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../app/db/connection.server.ts";
import { contentHashes } from "../../app/db/content.server.ts";
import { createLog } from "../../app/process/log.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";

for (const engine of await queryEngines()) {
  describe(`the system on ${engine.name}`, () => {
    let api: Api;
    let admin: Account;
    let ana: Account;
    beforeAll(async () => {
      api = await openApi(engine);
      admin = await api.signUp("Admin");
      ana = await api.signUp("Ana");
      await api.converse(ana.token, { content: "Hola" });
      await api.upload(ana.token, [new File(["Apuntes de Ana"], "apuntes.txt")]);
    });
    afterAll(() => api.close());

    it("reports versions, storage and work in progress", async () => {
      const { status, body } = await api.call("GET", "/api/system", { token: admin.token });
      expect([status, body]).toEqual([
        200,
        expect.objectContaining({
          engine: engine.name,
          engineVersion: expect.stringMatching(/^\d+\.\d+/),
          underway: { replies: 0, files: 0, emails: 0 },
          processes: [expect.objectContaining({ pid: process.pid, replies: 0 })],
        }),
      ]);
      const { storage, migrations } = body as {
        storage: { database: number; files: number; free: number };
        migrations: { at: string | null }[];
      };
      expect(storage.database).toBeGreaterThan(50_000);
      expect(storage.files).toBe("Apuntes de Ana".length);
      expect(storage.free).toBeGreaterThan(0);
      expect(migrations.length).toBeGreaterThan(5);
      expect(migrations.every(({ at }) => at && Date.parse(at) <= Date.now())).toBe(true);
    });

    it("counts what was stored under another secret, of accesses too", async () => {
      const json = { name: "casa", kind: "oidc", address: "https://id.example", clientId: "x", secret: "y" };
      const made = await api.call("POST", "/api/access", { token: admin.token, json });
      expect(made.status, made.text).toBe(201);
      await api.db.updateTable("accesses").set({ secret: "de otro secreto" }).execute();
      const { body } = await api.call("GET", "/api/system", { token: admin.token });
      expect(body).toMatchObject({ lost: { models: 0, tools: 0, accesses: 1, authenticators: 0 } });
      await api.db.deleteFrom("accesses").execute();
    });

    it("is there for admins only", async () => {
      for (const [method, path] of [
        ["GET", "/api/system"],
        ["GET", "/api/system/backup"],
        ["POST", "/api/system/backup"],
        ["GET", "/api/system/backup/copia.db"],
        ["DELETE", "/api/system/backup/copia.db"],
      ] as const) {
        expect([method, path, (await api.call(method, path, { token: ana.token })).status]).toEqual([
          method,
          path,
          404,
        ]);
        expect((await api.call(method, path)).status).toBe(401);
      }
    });

    if (engine.name === "postgres")
      it("leaves copies to PostgreSQL's own program", async () => {
        const answer = await api.call("POST", "/api/system/backup", { token: admin.token });
        expect([answer.status, (answer.body as { detail: string }).detail]).toEqual([
          409,
          expect.stringContaining("pg_dump"),
        ]);
        expect((await api.call("GET", "/api/system/backup", { token: admin.token })).body).toEqual({ items: [] });
      });

    if (engine.name === "sqlite")
      it("makes copies that are whole again on an empty machine", async () => {
        const [made, twice] = await Promise.all(
          [0, 1].map(() => api.call("POST", "/api/system/backup", { token: admin.token })),
        );
        expect([made?.status, twice?.body]).toEqual([201, made?.body]);
        const { name = "" } = (made?.body ?? {}) as { name?: string };
        await api.inspect(admin.token, "backup", name);
        const archive = await api.fetch(`/api/system/backup/${name}`, admin.token);
        expect([archive.status, archive.headers.get("Content-Type")]).toEqual([200, "application/x-tar"]);
        const dataDir = mkdtempSync(join(tmpdir(), "tertulia-restored-"));
        writeFileSync(join(dataDir, "copia.tar"), Buffer.from(await archive.arrayBuffer()));
        await extract({ file: join(dataDir, "copia.tar"), cwd: dataDir });
        expect(existsSync(join(dataDir, "secret"))).toBe(false);
        expect(readdirSync(join(dataDir, "files"), { recursive: true }).join(" ")).toContain(".original");
        const restored = await openDatabase({ dataDir, databaseUrl: undefined }, createLog("silent"));
        // The copy's own making and downloading are told after it.
        const { audit: _, ...content } = await contentHashes(api.db);
        expect(await contentHashes(restored.db)).toMatchObject(content);
        await restored.close();
        rmSync(dataDir, { recursive: true });

        expect((await api.call("DELETE", `/api/system/backup/${name}`, { token: admin.token })).status).toBe(204);
        expect((await api.call("GET", `/api/system/backup/${name}`, { token: admin.token })).status).toBe(404);
        const trail = await api.db
          .selectFrom("audit")
          .where("resource", "=", "backup")
          .orderBy("id")
          .select("action")
          .execute();
        expect(trail.map(({ action }) => action).slice(-2)).toEqual(["download", "delete"]);
      });

    it.each(["../tertulia.db", "..%2Ftertulia.db", "tertulia.lock", "%2e%2e%2fsecret"])(
      "knows no copy of the name %s",
      async (name) => {
        const answer = await api.call("GET", `/api/system/backup/${name}`, { token: admin.token });
        expect(answer.status).toBe(404);
      },
    );
  });
}
