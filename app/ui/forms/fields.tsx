import { createContext, type ReactNode, useEffect, useRef, useState } from "react";
import type { FormResult } from "../../web/forms/form.server.ts";
import { Callout } from "../callout.tsx";

type FieldShown = {
  /** Prefix of ids, to keep several forms on a page apart. */
  id: string;
  values: Record<string, string>;
  errors: Record<string, string>;
  /** Reports a violated constraint; an empty sentence clears it. `submitted`: during submission. */
  report(name: string, sentence: string, submitted: boolean): void;
};

export const FormFields = createContext<FieldShown>({ id: "", values: {}, errors: {}, report() {} });

/** The fields of a form, below a focused summary of errors. */
export function Fields({ id, result, children }: { id: string; result: FormResult | undefined; children: ReactNode }) {
  const [found, setFound] = useState<Record<string, string>>({});
  const [attempts, setAttempts] = useState(0);
  const summary = useRef<HTMLDivElement>(null);
  const [answered, setAnswered] = useState(result);
  if (result !== answered) {
    setAnswered(result);
    setFound({});
  }
  const errors = { ...result?.errors, ...found };
  const wrong = Object.entries(errors).filter(([, sentence]) => sentence);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each answer and each attempt to send
  useEffect(() => summary.current?.focus(), [result, attempts]);
  const report = (name: string, sentence: string, submitted: boolean) => {
    setFound((before) => {
      if ((before[name] ?? "") === sentence && !submitted) return before;
      // On submission, fields report in document order.
      const { [name]: _, ...others } = before;
      return { ...others, [name]: sentence };
    });
    if (submitted) setAttempts((count) => count + 1);
  };
  const asked = result !== undefined || attempts > 0;
  return (
    <FormFields value={{ id, values: result?.values ?? {}, errors, report }}>
      {asked && (wrong.length > 0 || result?.message) && (
        // biome-ignore lint/a11y/noAutofocus: without a script it does what the effect does with one
        <div ref={summary} tabIndex={-1} autoFocus={result !== undefined} className="summary">
          <Callout type="error">
            {result?.message && <p>{result.message}</p>}
            {wrong.map(([name, sentence]) => (
              <p key={name}>
                <a href={`#${id}-${name}`}>{sentence}</a>
              </p>
            ))}
          </Callout>
        </div>
      )}
      {children}
    </FormFields>
  );
}
