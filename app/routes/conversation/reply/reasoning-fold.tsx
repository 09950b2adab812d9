import { Link } from "react-router";
import { thoughtWords } from "./thought-words.ts";

export type ShownReasoning = {
  n: number;
  kind: "reasoning";
  ms: number | null;
  /** The beginning of the thought or all of it; empty for text browsers, which would show every fold open. */
  html: string;
  /** Page with the whole thought, if only a part of it is shown here. */
  whole: string | undefined;
};

/** A model's thoughts before its text, folded away. */
export function ReasoningFold({ part: { ms, html, whole } }: { part: ShownReasoning }) {
  const words = thoughtWords(ms);
  if (!html && whole) {
    return (
      <p>
        <Link to={whole}>Ver el razonamiento</Link> ({words})
      </p>
    );
  }
  return (
    <details className="reasoning">
      <summary>{words}</summary>
      {/* Safe: made by our own renderer, with raw HTML off. */}
      <div className="prose" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />
      {whole && (
        <p>
          <Link to={whole}>Ver el razonamiento entero</Link>
        </p>
      )}
    </details>
  );
}
