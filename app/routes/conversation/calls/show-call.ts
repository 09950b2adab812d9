import { cutText } from "../../../process/text/cut-text.ts";
import { objectOf } from "../../../process/text/json.ts";
import type { ShownCall } from "../../../replies/tools/shown-call.server.ts";
import type { ShownCallPart } from "./call.tsx";
import { callsPath, callWords, outcomeWords, timeWords } from "./call-words.ts";
import { fieldsOf } from "./schema-fields.ts";

// In characters: a longer result is cut here, and shown whole on a page of its own.
const shownOfResult = 3_000;

type Place = { replyId: string; folds: boolean };

/** A call as pages show it. `whole`: whether all of its output is there. */
export function showCallPart(
  call: ShownCall & { n: number; ms: number | null; whole: boolean },
  { replyId, folds }: Place,
): ShownCallPart {
  const { n, status, output, ms, asks, hasApp, artifactId } = call;
  const isCut = !call.whole || output.length > shownOfResult;
  const shown = isCut ? `${cutText(output, shownOfResult)}…` : output;
  // The artifact itself shows the result of the call, except the printed output of a program.
  const isWritten = artifactId !== null && status === "done" && call.tool !== "ejecutar_programa";
  const words = callWords(call);
  return {
    n,
    kind: "tool",
    label: call.label,
    words: call.edited ? `${words} (lo has cambiado)` : words,
    isRunning: status === "running",
    outcome: outcomeWords(status),
    output: folds && !isWritten ? shown : "",
    time: timeWords(ms),
    app: hasApp && status === "done" ? `/conversation/app/${replyId}/${n}` : undefined,
    artifact: artifactId ?? undefined,
    isBeside: false,
    whole: output && !isWritten && (isCut || !folds) ? callsPath(replyId) : undefined,
    decision: asks
      ? {
          replyId,
          n,
          hash: asks.hash,
          title: asks.question
            ? `${call.server ?? "La herramienta"} pregunta`
            : `¿Permitir «${call.label}»${call.server ? ` en ${call.server}` : ""}?`,
          question: asks.question?.message,
          onceOnly: asks.onceOnly,
          fields: asks.question
            ? fieldsOf(asks.question.schema, {}, { asksFor: true })
            : fieldsOf(asks.schema, objectOf(call.input) ?? {}),
        }
      : undefined,
  };
}
