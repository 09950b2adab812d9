import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sweepFolders } from "../../app/files/drives/look.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { startFileServer } from "../support/file-server.ts";

type Folder = {
  id: string;
  path: string;
  documents: number;
  problem: string | null;
  lookedAt: string | null;
  skipped: { path: string; reason: string }[];
};
type Doc = { id: string; name: string; folderId: string | null; state: string };

for (const engine of await ruleEngines()) {
  describe(`a folder at a server of files, on ${engine.name}`, () => {
    let there: Awaited<ReturnType<typeof startFileServer>>;
    let api: Api;
    let admin: Account;
    let ana: Account;
    let berta: Account;
    let driveId: string;
    let projectId: string;
    beforeAll(async () => {
      there = await startFileServer({ "ana.lopez": "clave-de-ana", "berta.ruiz": "clave-de-berta" });
      await mkdir(join(there.folder, "Actas y más", "2025"), { recursive: true });
      await mkdir(join(there.folder, "Vacía"));
      await writeFile(join(there.folder, "Actas y más", "mayo.txt"), "En mayo se acordó pintar el frontón.");
      await writeFile(join(there.folder, "Actas y más", "2025", "junio ñandú.md"), "En junio se compró una bomba.");
      await writeFile(join(there.folder, "Actas y más", "película.mkv"), "no es un documento");
      await writeFile(join(there.folder, "Actas y más", "vacío.txt"), "");
      api = await openApi(engine);
      admin = await api.signUp("Admin");
      ana = await api.signUp("Ana");
      berta = await api.signUp("Berta");
      const json = { name: "Nube", address: there.url };
      const made = await api.call("POST", "/api/drive", { token: admin.token, json });
      expect(made.body, made.text).toMatchObject({ address: `${there.url}/remote.php/webdav/` });
      driveId = (made.body as { id: string }).id;
      const project = await api.call("POST", "/api/project", { token: ana.token, json: { name: "Pueblo" } });
      projectId = (project.body as { id: string }).id;
    });
    afterAll(async () => {
      await api.close();
      await there.stop();
    });

    const connect = ({ token }: Account, username: string, password: string) =>
      api.call("PUT", `/api/drive-account/${driveId}`, { token, json: { username, password } });
    const inside = ({ token }: Account, path = "") =>
      api.call("GET", `/api/drive-account/${driveId}/folders?path=${encodeURIComponent(path)}`, { token });
    const add = ({ token }: Account, path: string, to = projectId) =>
      api.call("POST", "/api/folder", { token, json: { driveId, projectId: to, path } });
    const list = async ({ token }: Account) =>
      ((await api.call("GET", `/api/folder?projectId=${projectId}`, { token })).body as { items: Folder[] }).items;
    async function documents({ token }: Account): Promise<Doc[]> {
      const filter = encodeURIComponent(JSON.stringify({ projectId }));
      const answer = await api.call("GET", `/api/file?filter=${filter}&sort=${encodeURIComponent('{"name":"asc"}')}`, {
        token,
      });
      return (answer.body as { items: Doc[] }).items;
    }
    const names = async (person: Account) => (await documents(person)).map(({ name }) => name).sort();
    /** Looks again, and waits until that has been done. */
    async function look(folder: Folder, { token }: Account = ana): Promise<void> {
      expect((await api.call("POST", `/api/folder/${folder.id}/look`, { token })).status).toBe(204);
      await idle();
    }
    const idle = () =>
      expect
        .poll(
          async () =>
            (await api.db.selectFrom("jobs").where("state", "in", ["waiting", "running"]).select("kind").execute())
              .map(({ kind }) => kind)
              .filter((kind) => kind === "folder" || kind === "file"),
          { timeout: 60_000 },
        )
        .toEqual([]);

    it("is opened with a password of its person's own", async () => {
      const wrong = await connect(ana, "ana.lopez", "otra");
      expect(wrong.status).toBe(422);
      expect(wrong.text).toContain("no acepta ese usuario con esa contraseña");
      expect((await connect(ana, "ana.lopez", "clave-de-ana")).status).toBe(204);
      expect((await inside(ana)).body).toEqual({
        items: [
          { path: "Actas y más", name: "Actas y más" },
          { path: "Vacía", name: "Vacía" },
        ],
        files: 0,
      });
      // Nobody else reads with it.
      expect((await inside(berta)).status).toBe(404);
      expect((await add(berta, "Vacía")).status).toBe(422);
      const { password } = await api.db.selectFrom("driveAccounts").select("password").executeTakeFirstOrThrow();
      expect(password).not.toContain("clave-de-ana");
    });

    it("gives a project its documents, and says which not", async () => {
      expect((await add(ana, "No está")).text).toContain("no está esa carpeta");
      const added = await add(ana, "/Actas y más/");
      expect(added.status, added.text).toBe(201);
      expect((await add(ana, "Actas y más")).text).toContain("ya está en el proyecto");
      await idle();
      expect(await names(ana)).toEqual(["junio ñandú.md", "mayo.txt"]);
      expect(await list(ana)).toMatchObject([
        { path: "Actas y más", documents: 2, problem: null, skipped: [{ reason: "está vacío." }] },
      ]);
      const content = "¿Qué se acordó sobre el frontón?";
      const chunks = await api.converse(ana.token, { content, projectId });
      expect(JSON.stringify(chunks)).toContain("mayo.txt");
    });

    it("follows new, changed and deleted files", async () => {
      const [folder] = (await list(ana)) as [Folder];
      const before = (await documents(ana)).find(({ name }) => name === "mayo.txt");
      await writeFile(join(there.folder, "Actas y más", "mayo.txt"), "En mayo se acordó no pintar nada de nada.");
      await writeFile(join(there.folder, "Actas y más", "julio.txt"), "En julio hubo fiestas.");
      await rm(join(there.folder, "Actas y más", "2025", "junio ñandú.md"));
      await look(folder);
      expect(await names(ana)).toEqual(["julio.txt", "mayo.txt"]);
      const after = (await documents(ana)).find(({ name }) => name === "mayo.txt");
      expect(after?.id).toBe(before?.id);
      const passages = await api.call("GET", `/api/file/${after?.id}/passages`, { token: ana.token });
      expect(passages.text).toContain("no pintar nada");
      // Files that have not changed are not fetched again.
      const asked = there.state.asked;
      await look(folder);
      expect(there.state.asked - asked).toBe(3);
    });

    it("loses nothing when the answer is not a valid list", async () => {
      const [folder] = (await list(ana)) as [Folder];
      const deep = `<d:multistatus xmlns:d="DAV:">${"<a>".repeat(100_000)}</d:multistatus>`;
      for (const body of ["", "<html>Mantenimiento</html>", '<d:multistatus xmlns:d="DAV:"></d:multistatus>', deep]) {
        there.state.answer = body;
        await look(folder);
        there.state.answer = undefined;
        expect(await list(ana)).toMatchObject([
          { problem: "El servidor no ha contestado con la lista de esa carpeta.", documents: 2 },
        ]);
      }
      await look(folder);
      expect(await list(ana)).toMatchObject([{ problem: null, documents: 2 }]);
    });

    it("keeps an unreadable subfolder's documents for a day", async () => {
      const [folder] = (await list(ana)) as [Folder];
      await mkdir(join(there.folder, "Actas y más", "dentro"));
      await writeFile(join(there.folder, "Actas y más", "dentro", "agosto.txt"), "En agosto no hay pleno.");
      await look(folder);
      expect(await names(ana)).toContain("agosto.txt");
      there.state.shut = "/dentro/";
      await look(folder);
      const [shut] = await list(ana);
      expect(shut).toMatchObject({ documents: 3, problem: null });
      expect(shut?.skipped).toContainEqual({ path: "Actas y más/dentro", reason: "no se puede leer ahora." });
      const row = await api.db
        .selectFrom("folders")
        .where("id", "=", folder.id)
        .select("skipped")
        .executeTakeFirstOrThrow();
      const skipped = row.skipped.replace(/"closedAt":\d+/, '"closedAt":1');
      await api.db.updateTable("folders").set({ skipped }).where("id", "=", folder.id).execute();
      await api.services.jobs.add({ kind: "folder", userId: ana.id, subjectId: folder.id });
      api.services.jobs.wake("folder");
      await idle();
      expect(await list(ana)).toMatchObject([{ documents: 2 }]);
      there.state.shut = undefined;
      await rm(join(there.folder, "Actas y más", "dentro"), { recursive: true });
      await look(folder);
    });

    it("loses nothing while its server is away", async () => {
      const [folder] = (await list(ana)) as [Folder];
      there.state.mood = 503;
      await look(folder);
      there.state.mood = undefined;
      expect(await list(ana)).toMatchObject([{ problem: "El servidor ha contestado 503.", documents: 2 }]);
      await look(folder);
      expect(await list(ana)).toMatchObject([{ problem: null, documents: 2 }]);
    });

    it("is emptied a day after its owner loses access", async () => {
      const [folder] = (await list(ana)) as [Folder];
      await rename(join(there.folder, "Actas y más"), join(there.folder, "Fuera"));
      await look(folder);
      expect(await list(ana)).toMatchObject([{ documents: 2, problem: "En el servidor no está esa carpeta." }]);
      const long = Date.now() - 25 * 60 * 60_000;
      await api.db.updateTable("folders").set({ refusedAt: long }).where("id", "=", folder.id).execute();
      await look(folder);
      expect(await list(ana)).toMatchObject([{ documents: 0 }]);
      await rename(join(there.folder, "Fuera"), join(there.folder, "Actas y más"));
      await look(folder);
      expect(await list(ana)).toMatchObject([{ documents: 2, problem: null }]);
    });

    it("is readable by project members, who may not delete it", async () => {
      const json = { email: berta.email, role: "writes" };
      await api.call("POST", `/api/project/${projectId}/members`, { token: ana.token, json });
      expect(await names(berta)).toEqual(["julio.txt", "mayo.txt"]);
      const [folder] = (await list(berta)) as [Folder];
      expect((await api.call("DELETE", `/api/folder/${folder.id}`, { token: berta.token })).status).toBe(404);
      const [doc] = (await documents(ana)) as [Doc];
      const refused = await api.call("DELETE", `/api/file/${doc.id}`, { token: ana.token });
      expect(refused.status).toBe(409);
      expect(refused.text).toContain("carpeta conectada");
    });

    it("leaves a project with the member who connected it", async () => {
      await writeFile(join(there.folder, "Vacía", "de berta.txt"), "Berta lo sabe.");
      expect((await connect(berta, "berta.ruiz", "clave-de-berta")).status).toBe(204);
      expect((await add(berta, "Vacía")).status).toBe(201);
      await idle();
      expect(await names(ana)).toContain("de berta.txt");
      await api.call("DELETE", `/api/project/${projectId}/members/${berta.id}`, { token: ana.token });
      expect(await names(ana)).toEqual(["julio.txt", "mayo.txt"]);
      await sweepFolders(api.services);
      expect(await api.db.selectFrom("files").where("userId", "=", berta.id).select("id").execute()).toEqual([]);
    });

    it("stays its person's while nothing of theirs may be deleted", async () => {
      const [folder] = (await list(ana)) as [Folder];
      const reason = { userId: ana.id, reason: "Un pleito" };
      const hold = await api.call("POST", "/api/hold", { token: admin.token, json: reason });
      await writeFile(join(there.folder, "Actas y más", "mayo.txt"), "En mayo se cambió de idea.");
      await rm(join(there.folder, "Actas y más", "julio.txt"));
      await look(folder);
      expect(await names(ana)).toEqual(["julio.txt", "mayo.txt", "mayo.txt"]);
      await api.call("DELETE", `/api/hold/${(hold.body as { id: string }).id}`, { token: admin.token });
      await look(folder);
      expect(await names(ana)).toEqual(["mayo.txt", "mayo.txt"]);
    });

    it.each(["../otra", "a/../b", "./x", "a\u0000b", "\ud800"])("is none at %j", async (path) => {
      expect((await add(ana, path)).status).toBe(422);
    });

    it("is removed when its owner disconnects the server", async () => {
      const [folder] = (await list(ana)) as [Folder];
      const address = { name: "Nube", address: there.url };
      const off = await api.call("PUT", `/api/drive/${driveId}`, {
        token: admin.token,
        json: { ...address, enabled: false },
      });
      expect(off.status).toBe(200);
      await look(folder);
      expect((await list(ana))[0]?.problem).toContain("no puedes usar ese servidor");
      await api.call("PUT", `/api/drive/${driveId}`, { token: admin.token, json: address });
      const moved = { name: "Nube", address: "http://127.0.0.1:9" };
      const refused = await api.call("PUT", `/api/drive/${driveId}`, { token: admin.token, json: moved });
      expect(refused.text).toContain("Hay cuentas conectadas");
      const gone = await api.call("DELETE", `/api/drive-account/${driveId}`, { token: ana.token });
      expect(gone.status).toBe(204);
      // The folder is hers again, as it was while nothing of hers could be deleted.
      expect(await names(ana)).toEqual(["mayo.txt"]);
      expect(await list(ana)).toEqual([]);
    });
  });
}
