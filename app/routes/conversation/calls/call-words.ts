import { cutText } from "../../../process/text/cut-text.ts";
import { objectOf } from "../../../process/text/json.ts";
import type { ShownCall } from "../../../replies/tools/shown-call.server.ts";

const longest = 140;

/** A call in one line: «Buscar en la web: “precio del pan”». */
export function callWords({ label, server, input }: Pick<ShownCall, "label" | "server" | "input">): string {
  const told = Object.values(objectOf(input) ?? {}).find((value) => typeof value === "string" && value.trim() !== "");
  const whose = server ? `${label} (${server})` : label;
  if (typeof told !== "string") return whose;
  const line = told.replace(/\s+/g, " ").trim();
  return `${whose}: «${line.length > longest ? `${cutText(line, longest)}…` : line}»`;
}

/** Reason why a call gave no result, in words; empty if the call has a result or is under way. */
export function outcomeWords(status: ShownCall["status"], readOnly = false): string {
  if (status === "failed") return "No ha podido ser.";
  if (status === "refused") return "No se ha permitido.";
  if (status === "allowed") return "Permitido. Se hará cuando la respuesta continúe.";
  if (status !== "interrupted") return "";
  return readOnly ? "Se interrumpió." : "Se interrumpió: no se sabe si llegó a hacerse.";
}

/** «1,2 s», or empty for less than 0.1 s or an unknown time. */
export const timeWords = (ms: number | null): string =>
  ms === null || ms < 100 ? "" : `${(ms / 1000).toLocaleString("es", { maximumFractionDigits: 1 })} s`;

/** The page with all calls of a reply. */
export const callsPath = (replyId: string) => `/conversation/llamadas/${replyId}`;

/** The page on which a person decides about one call. */
export const decisionPath = (replyId: string, n: number) => `/conversation/decision/${replyId}/${n}`;
