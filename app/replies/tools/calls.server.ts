import { setTimeout as wait } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { objectOf, recordOf } from "../../process/text/json.ts";
import { type Outcome, type Tool, ToolRefused } from "../../tools/tool.server.ts";
import type { ToolPart } from "../parts.server.ts";
import type { ToolCalls } from "../providers/tool-calls.server.ts";
import type { Run } from "../running/run.server.ts";
import type { Calling, CallServices } from "./calling.server.ts";
import { findProvenance } from "./find-provenance.server.ts";
import { keepImages } from "./made-images.server.ts";
import { mustAsk, placesOf } from "./provenance.server.ts";

/** Calls in one step: more than any task needs. */
const callsAtOnce = 16;
/** Names of tools told to a model that has called an unknown tool. */
const namesTold = 40;

// In characters. The structured result is read with its reply.
const structuredAtMost = 100_000;

export const grantName = ({ toolId, tool, version }: Pick<Tool, "toolId" | "tool" | "version">) =>
  `${toolId} ${tool} ${version}`;

/**
 * Adds the calls of one step to a reply: calls that have to be asked about wait, calls that can't be made have failed. `begun`: calls that
 * are in the reply already, by their place.
 */
export async function addCalls(
  { db }: CallServices,
  run: Run,
  { list: calls, thoughts }: ToolCalls,
  calling: Calling,
  { step, begun }: { step: number; begun: Map<number, ToolPart> },
): Promise<void> {
  const { tools } = calling;
  const wantsPlaces = calls.some(({ name, input }) => {
    const tool = tools.find((one) => one.name === name);
    return tool && placesOf(tool, objectOf(input) ?? {}).length > 0;
  });
  const provenance = await findProvenance(db, { id: calling.messageId }, run, { tools, wantsPlaces });
  const now = Date.now();
  // One call more than allowed, so that the model is told.
  for (const [index, { id, name, input, meta }] of calls.slice(0, callsAtOnce + 1).entries()) {
    const tool = calling.tools.find((one) => one.name === name);
    const refusal =
      index >= callsAtOnce ? "Son demasiadas llamadas a la vez." : whyNot(tool, name, input, calling.tools);
    const granted = tool !== undefined && calling.granted.has(grantName(tool));
    const wasCut = run.calls.some(
      ({ status, call }) => status === "interrupted" && call.tool === tool?.tool && isSameInput(call.input, input),
    );
    const asks = tool && !refusal && mustAsk(tool, objectOf(input) ?? {}, { provenance, granted, wasCut });
    const before = begun.get(index);
    const part: ToolPart = {
      kind: "tool",
      at: before?.at ?? run.text.length,
      text: refusal ?? "",
      startedAt: now,
      finishedAt: refusal ? now : null,
      status: refusal ? "failed" : asks ? "waiting" : "running",
      call: {
        id,
        step,
        name,
        tool: tool?.tool ?? name,
        toolId: tool?.toolId ?? null,
        ...(tool?.version && { version: tool.version }),
        label: tool?.label ?? name,
        server: tool?.server ?? null,
        input: input || "{}",
        ...(asks && { schema: tool.schema }),
        ...(tool?.asksAlways && { asksAlways: true }),
        readOnly: tool?.readOnly ?? false,
        ...(tool?.reachesOut && { reachesOut: true }),
        ...(tool?.app && { app: tool.app }),
        ...(meta && { meta }),
        ...(index === 0 && thoughts.length > 0 && { thoughts }),
        ...(before?.call.artifactId && { artifactId: before.call.artifactId }),
      },
    };
    if (before) Object.assign(before, part);
    else run.add(part);
  }
  if (begun.size > 0) run.announce();
}

function whyNot(tool: Tool | undefined, name: string, input: string, tools: Tool[]): string | undefined {
  if (!tool)
    return `No hay ninguna herramienta «${name.slice(0, 80)}». Las que hay: ${tools
      .slice(0, namesTold)
      .map((one) => one.name)
      .join(", ")}.`;
  return objectOf(input) ? undefined : "Los datos de la llamada no son un objeto JSON completo.";
}

/** Whether two inputs are the same object, however they are written. */
const isSameInput = (a: string, b: string) => isDeepStrictEqual(objectOf(a), objectOf(b));

/**
 * Carries out the running and allowed calls of a reply, all at once. Resolves when they are over and stored; throws the reason with which
 * the run was stopped.
 */
export async function carryOut(services: CallServices, run: Run, calling: Calling): Promise<void> {
  const due = run.calls.filter(({ status }) => status === "running" || status === "allowed");
  const now = Date.now();
  for (const part of due) if (part.status === "allowed") Object.assign(part, { status: "running", startedAt: now });
  if (due.length > 0) run.announce();
  await services.keep(run);
  run.signal.throwIfAborted();
  await Promise.all(due.map((part) => carryOutOne(services, run, part, calling)));
  run.signal.throwIfAborted();
  if (due.length > 0) await services.keep(run);
}

async function carryOutOne(services: CallServices, run: Run, part: ToolPart, calling: Calling): Promise<void> {
  const { call } = part;
  const tool = calling.tools.find(({ toolId, tool: own }) => toolId === call.toolId && own === call.tool);
  const outcome =
    tool && tool.version === (call.version ?? tool.version)
      ? await outcomeOf(services, run, part, tool, calling)
      : { text: `«${call.label}» ${tool ? "ha cambiado desde que se pidió" : "ya no está disponible"}.`, failed: true };
  if ("question" in outcome) {
    Object.assign(part, { status: "waiting", call: { ...call, question: outcome.question } });
  } else {
    const lost = outcome.made && (await keepImages(services, run, part.at, calling, outcome.made));
    const said = [outcome.text, ...cited(run, outcome), lost].filter(Boolean).join("\n\n");
    const text = bounded(said, tool?.length ?? said.length);
    const isUnknown = outcome.unknown && !call.readOnly;
    const status = isUnknown ? "interrupted" : outcome.failed ? "failed" : "done";
    const { structured = "" } = outcome;
    const isKept = call.app !== undefined && structured !== "" && structured.length <= structuredAtMost;
    const { artifactId = call.artifactId } = outcome;
    const kept = { ...call, ...(isKept && { structured }), ...(artifactId && { artifactId }) };
    Object.assign(part, { status, text, call: kept, finishedAt: Date.now() });
  }
  run.announce();
}

/** The input of a call: a list or an object that the model has written as a text of JSON is what the tool's schema says that it is. */
function inputFor({ schema }: Tool, input: string): Record<string, unknown> {
  const properties = recordOf(schema.properties) ?? {};
  const wanted = (name: string, value: unknown) => {
    const type = recordOf(properties[name])?.type;
    if (typeof value !== "string" || (type !== "object" && type !== "array")) return value;
    // The beginning decides: `objectOf` takes blanks for an empty object.
    const given = /^\s{0,100}[{[]/.test(value) ? objectOf(`{"given":${value}}`)?.given : undefined;
    return Array.isArray(given) === (type === "array") ? (given ?? value) : value;
  };
  return Object.fromEntries(Object.entries(objectOf(input) ?? {}).map(([name, value]) => [name, wanted(name, value)]));
}

/** Outcome of a call within its time. An error and a stop of the run are outcomes, too. */
async function outcomeOf(
  { db, log }: CallServices,
  run: Run,
  { call }: ToolPart,
  tool: Tool,
  calling: Calling,
): Promise<Outcome> {
  const { userId, chatId, projectId, sessionId, modelId, messageId, zone } = calling;
  const late = new AbortController();
  const signal = AbortSignal.any([run.signal, late.signal]);
  const over = new AbortController();
  const tooLate = new ToolRefused(`«${call.label}» no ha contestado en ${Math.round(tool.time / 1000)} segundos.`);
  const caller = {
    userId,
    chatId,
    projectId,
    sessionId,
    modelId,
    messageId,
    zone,
    signal,
    length: tool.length,
    answers: call.answers ?? [],
    artifactId: call.artifactId,
    isTold: async () => {
      const { tools } = calling;
      const provenance = await findProvenance(db, { id: messageId }, run, { tools, wantsPlaces: false });
      return provenance.hasOutsideWords(tool);
    },
  };
  try {
    // A tool that ignores its signal is not waited for.
    const patience = wait(tool.time, undefined, { signal: over.signal }).then(() => {
      late.abort(tooLate);
      throw tooLate;
    });
    const stopped = new Promise<never>((_, reject) =>
      run.signal.addEventListener("abort", () => reject(run.signal.reason), { once: true, signal: over.signal }),
    );
    return await Promise.race([tool.call(inputFor(tool, call.input), caller), patience, stopped]);
  } catch (error) {
    // It is unknown whether the call took effect.
    if (run.signal.aborted)
      return { text: "La respuesta se detuvo a mitad de la llamada.", failed: true, unknown: true };
    if (late.signal.aborted) return { text: tooLate.message, failed: true, unknown: true };
    const { toolId, name } = call;
    if (error instanceof ToolRefused)
      log.info({ toolId, name, cause: String(error.cause ?? "") }, "herramienta fallida");
    else log.error({ toolId, name, err: error }, "herramienta fallida");
    if (!(error instanceof ToolRefused)) return { text: "La herramienta ha fallado.", failed: true, unknown: true };
    return { text: error.message, failed: true, unknown: error.mayBeDone };
  } finally {
    over.abort();
  }
}

/** Found passages, with the numbers by which they are cited; they become sources of the reply. */
function cited(run: Run, { found = [], whole = [] }: Extract<Outcome, { text: string }>): string[] {
  return found.map((one, index) => {
    const same = run.sources.find((source) =>
      one.url ? source.url === one.url : source.quote === one.quote && source.title === one.title,
    );
    const n = same?.n ?? (run.sources.at(-1)?.n ?? 0) + 1;
    if (!same) run.sources = [...run.sources, { n, ...one }];
    else if (one.isListed) same.isListed = true;
    return `[${n}] ${one.title}${one.url ? `\n${one.url}` : ""}\n${whole[index] ?? one.quote}`;
  });
}

// Control characters but for tab and new line.
const unprintable = /[\p{Cc}--[\t\n]]/gv;

function bounded(text: string, length: number): string {
  const cut = text.length > length ? `${text.slice(0, length)}\n[Cortado: era más largo.]` : text;
  return cut.toWellFormed().replace(unprintable, "");
}
