// How much of papers is read (`papers.ts`), and how long documents take: a PDF of 300 pages beside poppler's pdftotext, if that is there, and scanned pages. Reading is done
// in a child process; what anybody else waits for meanwhile is the longest delay of the event loop here. `npm run bench -- read`.
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { openApi } from "../support/api.ts";
import { queryEngines, sqlite } from "../support/engines.ts";
import { textPdf } from "../support/text-pdf.ts";
import { askPapers } from "./clerk.ts";
import { readPapers } from "./papers.ts";

const pages = 300;
// In ms: of the processes that recognise and read.
const starting = 1_500;
const folder = join(import.meta.dirname, "find/documents");
const prose = readdirSync(folder)
  .map((name) => readFileSync(join(folder, name), "utf8"))
  .join("\n");

if (!(await readPapers())) process.exitCode = 1;
if (!(await askPapers(sqlite))) process.exitCode = 1;
for (const engine of await queryEngines()) {
  const api = await openApi(engine);
  const ana = await api.signUp("Ana");
  const book = join(api.services.config.dataDir, "libro.pdf");
  writeFileSync(book, textPdf(prose, pages));
  console.log(`\n${engine.name}`);
  await read(book, `PDF of ${pages} pages, ${Math.round(statSync(book).size / 1024)} kB`, 10_000);
  for (const [name, count] of [
    ["contrato-escaneado.pdf", 2],
    ["fax-ccitt.pdf", 1],
    ["contrato-foto.jpg", 1],
  ] as const) {
    await read(join(import.meta.dirname, "../documents", name), `${name}, ${count} scanned`, starting + 5_000 * count);
  }
  if (spawnSync("pdftotext", ["-v"]).error === undefined) {
    const begun = performance.now();
    execFileSync("pdftotext", [book, "-"], { maxBuffer: 1 << 28 });
    console.log(`  pdftotext by itself${"".padEnd(21)} ${seconds(performance.now() - begun)}`);
  }
  await api.close();

  async function read(path: string, what: string, reach: number): Promise<void> {
    const { files, db } = api.services;
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const begun = performance.now();
    const sent = { path, name: basename(path), size: statSync(path).size };
    const row = await files.take(sent, { userId: ana.id, projectId: null, temporary: false });
    if (row.mediaType.startsWith("image/")) {
      await files.readPicture(row);
      while (!(await textOf(row.id))) await new Promise((resolve) => setTimeout(resolve, 50));
    } else await files.settled([row], 120_000);
    const took = performance.now() - begun;
    delay.disable();
    const { count } = await db
      .selectFrom("passages")
      .where("fileId", "=", row.id)
      .select((e) => e.fn.countAll<number>().as("count"))
      .executeTakeFirstOrThrow();
    if (took > reach || Number(count) === 0) process.exitCode = 1;
    const mark = took > reach ? "✗" : "✓";
    const longest = (delay.max / 1e6).toFixed(0);
    console.log(
      `${mark} ${what.padEnd(40)} ${seconds(took)} (${reach / 1000} s), ${count} passages; loop held ${longest} ms`,
    );
  }

  async function textOf(id: string): Promise<string | null | undefined> {
    return (await api.db.selectFrom("files").where("id", "=", id).select("text").executeTakeFirst())?.text;
  }
}
process.exit();

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`.padStart(8);
}
