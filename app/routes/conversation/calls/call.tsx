import { use } from "react";
import { Link } from "react-router";
import { Icon } from "../../../ui/icon.tsx";
import { Light } from "../../../ui/light/light.ts";
import { DecisionForm, type ShownDecision } from "./decision-form.tsx";

export type ShownCallPart = {
  n: number;
  kind: "tool";
  words: string;
  label: string;
  isRunning: boolean;
  /** Why the call gave no result. */
  outcome: string;
  /** Result of the call; nothing for text browsers, which would show every fold open. */
  output: string;
  time: string;
  /** The page of the tool's server that shows the result. */
  app: string | undefined;
  /** The artifact that the call writes. */
  artifact: string | undefined;
  /** Whether the artifact stands beside the conversation. */
  isBeside: boolean;
  /** Page with the whole result, if only a part of it is shown here. */
  whole: string | undefined;
  decision: ShownDecision | undefined;
};

/** A call of a tool in a reply: its line, and its result folded below. */
export function Call({ call }: { call: ShownCallPart }) {
  return (
    <div className="call" data-n={call.n}>
      <CallLine call={call} />
      <CallResult call={call} />
      {call.isBeside && <BesideSheet artifact={call.artifact} />}
      {call.decision && <DecisionForm decision={call.decision} />}
    </div>
  );
}

/** The line of a call. It comes first, and in a growing document it can't change any more. */
export const CallLine = ({ call: { words, isRunning, artifact } }: { call: LineOfCall }) => (
  <p className={isRunning ? "call-line now" : "call-line"}>
    <Icon name="server" />
    <span dir="auto">{artifact ? <a href={`/conversation/escrito/${artifact}`}>{words}</a> : words}</span>
  </p>
);

type LineOfCall = Pick<ShownCallPart, "words" | "isRunning" | "artifact">;

/**
 * An artifact beside its conversation, where the window has room for both: a frame with a document of its own, which grows while a model
 * writes it. Elsewhere the frame is not shown, and so not loaded.
 */
export function BesideSheet({ artifact }: Pick<ShownCallPart, "artifact">) {
  const light = use(Light);
  if (light || !artifact) return null;
  return (
    <details className="beside" open>
      <summary>Ver u ocultar el escrito</summary>
      <iframe src={`/conversation/escrito/${artifact}/hoja`} title="Escrito" loading="lazy" />
    </details>
  );
}

/** Result of a call. `apart`: it does not stand below the call's own line, so it says whose result it is. */
export function CallResult({ call, apart }: { call: ShownCallPart; apart?: boolean }) {
  const { words, label, outcome, output, time, whole, app } = call;
  const of = apart ? ` de ${label}` : "";
  const link = whole && (
    <p>
      <Link to={whole} aria-label={`Ver el resultado de ${words}`}>
        Ver el resultado{of}
      </Link>
      {time && ` (${time})`}
    </p>
  );
  return (
    <>
      {outcome && (
        <p className="call-outcome">
          {apart && `${label}: `}
          {outcome} {output && <span className="sr-only">El detalle está en el resultado.</span>}
        </p>
      )}
      {output ? (
        <details className="reasoning result">
          <summary>
            Resultado{of}
            {time && ` · ${time}`}
          </summary>
          <div>
            <pre dir="auto">{output}</pre>
            {link}
          </div>
        </details>
      ) : (
        link
      )}
      {app && (
        <p>
          <a href={app}>
            Abrir la aplicación<span className="sr-only"> de {label}</span>
          </a>
        </p>
      )}
    </>
  );
}
