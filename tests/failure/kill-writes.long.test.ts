import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { password } from "../support/password.ts";
import { startServer } from "../support/server.ts";

const dataDir = mkdtempSync(join(tmpdir(), "tertulia-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const kills = 20;

it(`keeps every acknowledged write when killed ${kills} times`, async () => {
  const email = "ana@ejemplo.es";
  /** Answered writes: the name of each project and file that is there, and of those that were deleted. */
  const kept = new Map<string, string>();
  const deleted = new Set<string>();
  const files = new Set<string>();
  for (let round = 0; round < kills; round++) {
    const server = await startServer({ DATA_DIR: dataDir });
    onTestFinished(() => void server.process.kill("SIGKILL"));
    const call = (method: string, path: string, token = "", json?: object) =>
      fetch(`${server.url}/v1${path}`, {
        method,
        headers: { Authorization: `Bearer ${token}`, ...(json && { "Content-Type": "application/json" }) },
        ...(json && { body: JSON.stringify(json) }),
      });
    const credentials = { email, password, ...(round === 0 && { name: "Ana" }) };
    const token = await (await call("POST", round === 0 ? "/auth/signup" : "/auth/signin", "", credentials)).text();

    let killed = false;
    const until = 5 + round * 4;
    let answered = 0;
    const count = () => {
      if (++answered === until) {
        killed = true;
        server.process.kill("SIGKILL");
      }
    };
    const upload = async (name: string) => {
      const body = new FormData();
      body.append("files", new File([`Esto es ${name}`], name));
      const headers = { Authorization: `Bearer ${token}` };
      return fetch(`${server.url}/v1/api/file/uploads`, { method: "POST", headers, body });
    };
    const writer = async (writer: number) => {
      for (let n = 0; !killed; n++) {
        const name = `${round}-${writer}-${n}`;
        const made = await call("POST", "/api/project", token, { name });
        const { id } = (await made.json()) as { id: string };
        if (made.status === 201) kept.set(id, name);
        count();
        const changed = await call("PUT", `/api/project/${id}`, token, { name: `${name}*` });
        if (changed.status === 200) kept.set(id, `${name}*`);
        count();
        const sent = await upload(`${name}.txt`);
        if (sent.status === 201) files.add(`${name}.txt`);
        count();
        if (n % 3 === 0 && (await call("DELETE", `/api/project/${id}`, token)).status === 204) {
          kept.delete(id);
          deleted.add(id);
        }
        count();
      }
    };
    // Writes that the kill cuts off were not answered.
    await Promise.allSettled(Array.from({ length: 4 }, (_, n) => writer(n)));
    await server.end("SIGKILL");
  }

  const database = new DatabaseSync(join(dataDir, "tertulia.db"));
  expect(database.prepare("pragma integrity_check").get()).toEqual({ integrity_check: "ok" });
  const stored = new Map(
    (database.prepare("select id, name from projects").all() as { id: string; name: string }[]).map((row) => [
      row.id,
      row.name,
    ]),
  );
  const names = new Set(
    (database.prepare("select name from files where ready = 1").all() as { name: string }[]).map(({ name }) => name),
  );
  database.close();
  expect(kept.size).toBeGreaterThan(kills);
  // A change that was under way may have been stored without being answered.
  const lost = [...kept].filter(([id, name]) => !stored.get(id)?.startsWith(name) && !isBeingDeleted(stored, id, name));
  expect(lost).toEqual([]);
  expect([...deleted].filter((id) => stored.has(id))).toEqual([]);
  expect([...files].filter((name) => !names.has(name))).toEqual([]);
});

/** Every third project is deleted right after its change: the deletion may have been stored, and not answered. */
function isBeingDeleted(stored: Map<string, string>, id: string, name: string): boolean {
  return !stored.has(id) && Number(name.replace("*", "").split("-")[2]) % 3 === 0;
}
