// `npm run dev:demo`: the product as it is after some weeks of use, with a model server that answers at once and costs nothing.
// Its data are new at every start, and gone when it ends.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startModelServer } from "../support/model-server.ts";
import { fill, people } from "./fill.ts";

const models = await startModelServer();
const dataDir = mkdtempSync(join(tmpdir(), "tertulia-demo-"));
const port = process.env.PORT ?? "3000";
const child = spawn(process.execPath, ["server.ts", "--dev"], {
  env: {
    ...process.env,
    PORT: port,
    DATA_DIR: dataDir,
    OPENAI_BASE_URL: `${models.url}/v1`,
    OPENAI_API_KEY: "demo",
    OLLAMA_BASE_URL: "http://127.0.0.1:9",
  },
  stdio: ["ignore", "pipe", "inherit"],
});
child.once("exit", (code) => process.exit(code ?? 0));
process.once("exit", () => {
  child.kill();
  rmSync(dataDir, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));

let printed = "";
child.stdout.on("data", async (data: Buffer) => {
  process.stdout.write(data);
  const before = printed;
  printed += data;
  const ready = "Tertulia escucha en";
  if (!printed.includes(ready) || before.includes(ready)) return;
  await fill(`http://127.0.0.1:${port}/v1`);
  console.log(`\nCuentas, todas con la contraseña «${people.password}»:`);
  for (const { email, what } of people.all) console.log(`  ${email}  ${what}`);
});
