import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { add } from "./figures.ts";
import { startModel } from "./model.ts";

/** How many statements of SQL a program's message and its reply cost, from the request to the stored end. */
export async function measureStatements(): Promise<void> {
  const said = new Map<string, number>();
  const prepare = DatabaseSync.prototype.prepare;
  DatabaseSync.prototype.prepare = function (sql, ...options) {
    const statement = prepare.call(this, sql, ...options);
    for (const way of ["all", "run", "get", "iterate"] as const) {
      const method = statement[way] as (...parameters: unknown[]) => unknown;
      statement[way] = (...parameters: unknown[]) => {
        said.set(sql, (said.get(sql) ?? 0) + 1);
        return method.apply(statement, parameters) as never;
      };
    }
    return statement;
  };
  const dataDir = mkdtempSync(join(tmpdir(), "tertulia-"));
  const model = await startModel();
  Object.assign(process.env, {
    DATA_DIR: dataDir,
    LOG_LEVEL: "silent",
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "x",
  });
  const app = (await import(
    "../../build/server/handler.js" as string
  )) as typeof import("../../app/server/handler.server.ts");
  const opened = await app.open();
  const handle = app.createHandler(opened);
  const post = (path: string, json: object, token = "") => {
    const headers = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
    const init = { method: "POST", headers, body: JSON.stringify(json) };
    return handle(new Request(`http://x/v1/${path}`, init), { ip: "127.0.0.1" });
  };
  const person = { name: "Ana", email: "ana@ejemplo.es", password: "una frase larga y rara" };
  const token = await (await post("auth/signup", person)).text();
  const converse = async () => (await post("api/intelligence/conversation", { content: "Cuéntame" }, token)).text();
  await converse();
  said.clear();
  await converse();
  // Transactions are shared with all that is written in the same turn.
  const counted = [...said].filter(([sql]) => !/^(?:begin|commit|savepoint|release)/.test(sql));
  const sum = counted.reduce((all, [, times]) => all + times, 0);
  if (process.argv.includes("statements")) for (const [sql, times] of counted) console.log(times, sql.slice(0, 150));
  add("statements of one reply, its title included", sum, "", 20);
  await opened.close(0, Promise.resolve());
  model.stop();
  rmSync(dataDir, { recursive: true });
}
