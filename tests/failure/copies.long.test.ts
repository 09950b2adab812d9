import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { queryEngines, sharedEngines } from "../support/engines.ts";
import { startModelServer } from "../support/model-server.ts";
import { S3Store } from "../support/s3-store.ts";
import { startServer } from "../support/server.ts";

let mock: LLMock;
let store: S3Store;
const folder = mkdtempSync(join(tmpdir(), "tertulia-"));
beforeAll(async () => {
  [mock, store] = await Promise.all([startModelServer(), S3Store.start()]);
});
afterAll(async () => {
  await Promise.all([mock.stop(), store.delete()]);
  rmSync(folder, { recursive: true, force: true });
});

const command = async (name: string, env: Record<string, string>, ...args: string[]) => {
  const { stdout } = await promisify(execFile)(process.execPath, [`commands/${name}.ts`, ...args], {
    env: { PATH: process.env.PATH, ...env },
  });
  return stdout;
};

const engines = await queryEngines();
const places: [string, () => Record<string, string>][] = [
  ["a folder", () => ({ BACKUP_URL: join(folder, "place") })],
  [
    "a bucket",
    () => ({
      BACKUP_URL: `s3://archivos/copias?endpoint=http://127.0.0.1:${store.port}`,
      AWS_ACCESS_KEY_ID: store.keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: store.keys.secretAccessKey,
    }),
  ],
];

describe.each(engines)("an installation on $name", (engine) => {
  it.each(places)(
    "backs up to %s automatically and restores with one command",
    async (name, settings) => {
      const env: Record<string, string> = { ...settings(), BACKUP_PASSPHRASE: `una frase larga para ${engine.name}` };
      env.BACKUP_URL = env.BACKUP_URL?.replace(/place$|copias/, (end) => `${end}-${engine.name}`) ?? "";
      const database = await engine.open();
      const models = { OPENAI_BASE_URL: `${mock.url}/v1`, OPENAI_API_KEY: "clave" };
      const own: Record<string, string> = database.url ? { DATABASE_URL: database.url } : {};
      const dataDir = mkdtempSync(join(folder, "data-"));
      const server = await startServer({ ...env, ...models, ...own, DATA_DIR: dataDir });
      const browser = new Browser(server.url);
      const email = await browser.signUp();
      await vi.waitFor(() => expect(server.printed()).toContain("copia hecha y comprobada"), 60_000);
      const chat = await browser.say("Hola");
      await browser.html(chat);
      const [file = ""] = await browser.upload([new File(["La fianza es de 900 euros"], "contrato.txt")]);
      // While the server runs.
      expect(await command("back-up", { ...env, ...own, DATA_DIR: dataDir })).toMatch(
        /comprobada: 1 conversaciones, 2 mensajes, 1 ficheros/,
      );
      expect(readable(await browser.html("/admin/sistema"))).toContain("La última copia buena de cada noche es de");
      await server.end("SIGINT");

      const into = mkdtempSync(join(folder, "into-"));
      const empty = await emptyLike(engine.name);
      const again = { ...env, ...empty.env, DATA_DIR: into };
      expect(await command("restore", again)).toMatch(/restaurada y comparada: 1 conversaciones.*\n.*RTO.*RPO/);
      const restored = await startServer({ ...models, ...empty.env, DATA_DIR: into });
      const back = new Browser(restored.url);
      await back.signIn(email);
      expect(readable(await back.html(chat))).toContain("Con dos frases.");
      expect(await (await back.fetch(`/user/file/${file}/contenido`)).text()).toBe("La fianza es de 900 euros");
      // The keys of models are read, as the secret came along.
      expect(readable(await back.html(await back.say("Hola otra vez")))).toContain("Con dos frases.");
      await restored.end("SIGINT");
      // A second restoration into what is there is refused.
      await expect(command("restore", again)).rejects.toThrow(/DATA_DIR|pg_restore/);
      expect(name).toBeTruthy();
      await empty.drop();
      await database.drop();
    },
    180_000,
  );
});

/** Settings of an empty database of the same kind. */
async function emptyLike(name: string): Promise<{ env: Record<string, string>; drop(): Promise<void> }> {
  const [shared] = name === "postgres" ? await sharedEngines() : [];
  if (!shared) return { env: {}, drop: async () => {} };
  const { url, drop } = await shared.open();
  execFileSync("psql", [url, "-qc", "drop schema public cascade; create schema public"]);
  return { env: { DATABASE_URL: url }, drop };
}

it("a restore drill reports its duration and the copy's age", async () => {
  const BACKUP_URL = join(folder, "place-sqlite");
  const env = { BACKUP_URL, BACKUP_PASSPHRASE: "una frase larga para sqlite", DATA_DIR: join(folder, "none") };
  expect(await command("restore", env, "--simulacro")).toMatch(/RTO\): [\d,]+ s\. .*RPO\): 0(,\d)? h/);
});
