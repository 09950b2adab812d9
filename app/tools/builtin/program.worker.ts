import variant from "@jitl/quickjs-singlefile-mjs-release-sync";
import { newQuickJSWASMModuleFromVariant } from "quickjs-emscripten-core";
import { answerJob } from "../../process/child-process-entry.ts";
import { limits } from "../../process/limits.ts";
import { recordOf } from "../../process/text/json.ts";
import { tableRows } from "../../process/text/table.ts";
import { prelude } from "./program-prelude.server.ts";

/** `text`: null where there is no room for it. */
export type ProgramFile = { name: string; text: string | null };
export type ProgramJob = { code: string; files: ProgramFile[] };
/** A text that a program has saved under a name. */
export type SavedFile = { name: string; text: string };
/** `problem`: why the program has not reached its end; `isLate`: it was stopped because its time was over. */
export type ProgramAnswer = { printed: string; saved: SavedFile[]; problem?: string; isLate?: boolean };

// In bytes and ms, and characters of what it prints.
const memory = 192 * 1024 * 1024;
// In bytes: less than the interpreter's own stack in this process.
const stack = 200 * 1024;
const runsWithin = 10_000;
const printedAtMost = 60_000;
const jobsAtMost = 1_000;
const savedAtMost = 5;
// In characters; titles are cut shorter.
const nameAtMost = 1_000;

answerJob(async ({ code, files: sent }: ProgramJob): Promise<ProgramAnswer> => {
  const quickJs = await newQuickJSWASMModuleFromVariant(variant);
  const runtime = quickJs.newRuntime({ memoryLimitBytes: memory, maxStackSizeBytes: stack });
  const deadline = Date.now() + runsWithin;
  runtime.setInterruptHandler(() => Date.now() > deadline);
  const vm = runtime.newContext();
  let printed = "";
  vm.newFunction("print", (text) => {
    if (printed.length < printedAtMost) printed += `${vm.getString(text)}\n`;
  }).consume((print) => vm.setProp(vm.global, "__print", print));
  const saved = new Map<string, string>();
  vm.newFunction("guardar", (name, text) => {
    const [named, said] = [vm.getString(name).slice(0, nameAtMost), vm.getString(text)];
    if (said.length > limits.artifact) return vm.newString(`es más largo que ${limits.artifact} letras`);
    if (saved.size >= savedAtMost && !saved.has(named)) return vm.newString(`no se guardan más de ${savedAtMost}`);
    saved.set(named, said);
    return vm.undefined;
  }).consume((guardar) => vm.setProp(vm.global, "__guardar", guardar));
  // The rows of a file are made only when a program reads them: the rows of one file may take all memory.
  vm.newFunction("filas", (place) =>
    vm.newString(JSON.stringify(tableIn(sent[vm.getNumber(place)]?.text ?? ""))),
  ).consume((filas) => vm.setProp(vm.global, "__filas", filas));
  const given = sent.map(({ name, text }) => ({ nombre: name, texto: text }));
  vm.newString(JSON.stringify(given)).consume((named) => vm.setProp(vm.global, "__archivos", named));
  const ready = vm.evalCode(prelude, "preludio.js");
  if (ready.error) throw new Error(JSON.stringify(vm.dump(ready.error)));
  const ran = vm.evalCode(code, "programa.js");
  const jobs = ran.error ? undefined : runtime.executePendingJobs(jobsAtMost);
  // The promise of a program that ends in an asynchronous call.
  const promised = ran.error ? undefined : vm.getPromiseState(ran.value);
  const error = ran.error ?? jobs?.error ?? (promised?.type === "rejected" ? promised.error : undefined);
  const isLate = Date.now() > deadline;
  const isCut = runtime.hasPendingJob() || promised?.type === "pending";
  const problem = error ? problemIn(vm.dump(error)) : isCut ? "espera algo que no llega: no uses await" : undefined;
  const files = [...saved].map(([name, text]) => ({ name, text }));
  return {
    printed: printed.slice(0, printedAtMost),
    saved: files,
    ...(problem && { problem }),
    ...(isLate && { isLate }),
  };
});

/** Rows of a table by the names in its first row, each with the cells that it has; none where a text is no table. */
function tableIn(text: string): Record<string, string>[] {
  const rows = tableRows(text);
  const head = rows.findIndex(({ length }) => length > 1);
  const names = rows[head] ?? [];
  if (head < 0) return [];
  return rows
    .slice(head + 1)
    .map((cells) => Object.fromEntries(cells.slice(0, names.length).map((cell, n) => [names[n], cell])));
}

/** An error in words for the program's author; programs may throw anything. */
function problemIn(error: unknown): string {
  if (typeof error !== "object" || error === null) return `ha lanzado ${String(error)}`.slice(0, 500);
  const { name = "", message = "", stack: trace = "" } = recordOf(error) ?? {};
  const line = /programa\.js:(\d+)/.exec(String(trace))?.[1];
  const said = [name, message].filter(Boolean).join(": ") || JSON.stringify(error);
  return `${line ? `línea ${line}: ` : ""}${said}`.slice(0, 500);
}
