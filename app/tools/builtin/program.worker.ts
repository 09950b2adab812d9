import variant from "@jitl/quickjs-singlefile-mjs-release-sync";
import { newQuickJSWASMModuleFromVariant } from "quickjs-emscripten-core";
import { answerJob } from "../../process/child-process-entry.ts";
import { tableRows } from "../../process/text/table.ts";
import { prelude } from "./program-prelude.server.ts";

export type ProgramFile = { name: string; text: string };
export type ProgramJob = { code: string; files: ProgramFile[] };
/** `problem`: why it has not come to its end; `isLate`: it was stopped for its time. */
export type ProgramAnswer = { printed: string; problem?: string; isLate?: boolean };

// In bytes and ms, and characters of what it prints.
const memory = 192 * 1024 * 1024;
// Less than its own interpreter has of this process.
const stack = 200 * 1024;
const runsWithin = 10_000;
const printedAtMost = 60_000;

answerJob(async ({ code, files }: ProgramJob): Promise<ProgramAnswer> => {
  const quickJs = await newQuickJSWASMModuleFromVariant(variant);
  const runtime = quickJs.newRuntime({ memoryLimitBytes: memory, maxStackSizeBytes: stack });
  const deadline = Date.now() + runsWithin;
  runtime.setInterruptHandler(() => Date.now() > deadline);
  const vm = runtime.newContext();
  let printed = "";
  vm.newFunction("print", (text) => {
    if (printed.length < printedAtMost) printed += `${vm.getString(text)}\n`;
  }).consume((print) => vm.setProp(vm.global, "__print", print));
  vm.newString(JSON.stringify(files.map(asTable))).consume((given) => vm.setProp(vm.global, "__archivos", given));
  const ready = vm.evalCode(prelude, "preludio.js");
  if (ready.error) throw new Error(JSON.stringify(vm.dump(ready.error)));
  const ran = vm.evalCode(code, "programa.js");
  runtime.executePendingJobs(1_000);
  printed = printed.slice(0, printedAtMost);
  if (!ran.error) return { printed };
  const isLate = Date.now() > deadline;
  return { printed, problem: problemIn(vm.dump(ran.error)), ...(isLate && { isLate }) };
});

/** A file with the rows of its table, the first of which has the names; without rows where it is none. */
function asTable({ name, text }: ProgramFile) {
  const rows = tableRows(text);
  const head = rows.findIndex(({ length }) => length > 1);
  const names = rows[head] ?? [];
  const filas =
    head < 0
      ? []
      : rows.slice(head + 1).map((cells) => Object.fromEntries(names.map((one, n) => [one, cells[n] ?? ""])));
  return { nombre: name, texto: text, filas };
}

function problemIn(error: unknown): string {
  const { name = "", message = "", stack: trace = "" } = Object(error) as Record<string, string>;
  const line = /programa\.js:(\d+)/.exec(trace)?.[1];
  return `${line ? `línea ${line}: ` : ""}${[name, message].filter(Boolean).join(": ")}`.slice(0, 500);
}
