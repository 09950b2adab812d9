type Step = {
  part: number;
  kind: "search" | "read" | "more" | "write" | "join";
  title: string;
  url: string | null;
  fileId: string | null;
  state: "waiting" | "done" | "failed" | "skipped";
  text: string;
  problem: string | null;
  source: number | null;
};
/** `showNotes`: false on a page that loads again every few seconds. */
type StepsProps = { plan: { title: string; searches: string[] }[]; steps: Step[]; showNotes: boolean };

/** The parts of a plan with the steps that were taken for each: what was searched, what was read and what is noted of it. */
export function Steps({ plan, steps, showNotes }: StepsProps) {
  return (
    <ol className="mt-4">
      {plan.map(({ title, searches }, part) => {
        const own = steps.filter((one) => one.part === part && (one.kind === "search" || one.kind === "read"));
        return (
          <li key={title} className="mt-4 break-words">
            <strong>{title}</strong>
            <ul className="mt-2">
              {own.length > 0
                ? own.map((step) => (
                    <li key={`${step.kind} ${step.title} ${step.url}`} className="mt-1">
                      <StepLine step={step} showNotes={showNotes} />
                    </li>
                  ))
                : searches.map((one) => (
                    <li key={one} className="mt-1">
                      Buscar «{one}»
                    </li>
                  ))}
            </ul>
          </li>
        );
      })}
    </ol>
  );
}

function StepLine({ step, showNotes }: { step: Step; showNotes: boolean }) {
  const { kind, title, state, text, problem, source } = step;
  if (kind === "search") {
    const said = { waiting: "Buscar", done: "Buscado:", failed: "No se ha podido buscar", skipped: "Sin buscar:" }[
      state
    ];
    return (
      <>
        {said} «{title}»{problem && `. ${problem}`}
        {state === "done" && !text && " (nada nuevo)"}
      </>
    );
  }
  const place = step.url ?? (step.fileId ? `/user/file/${step.fileId}` : undefined);
  const name = place ? (
    <a href={place} rel="nofollow noopener noreferrer">
      {title}
    </a>
  ) : (
    title
  );
  if (state !== "done") {
    return (
      <>
        {{ waiting: "Leer ", failed: "No se ha podido leer ", skipped: "Sin leer: " }[state]}
        {name}
        {problem && `. ${problem}`}
      </>
    );
  }
  if (source === null) return <>Leído: {name}. No sirve.</>;
  return (
    <>
      Leído: [{source}] {name}{" "}
      {showNotes && (
        <details className="noted">
          <summary>Lo que se ha anotado</summary>
          <p className="whitespace-pre-wrap text-text-2">{text}</p>
        </details>
      )}
    </>
  );
}
