import { useEffect, useState } from "react";
import { Icon } from "../../../ui/icon.tsx";

/** In a composer: the phone's recorder or a file, sent with the form; with a script a button that records. */
export default function Dictation() {
  return (
    <>
      <details className="dictation unscripted">
        <summary className="button quiet small">
          <Icon name="voice" />
          <span className="text">Dictar</span>
        </summary>
        <label>
          Grabación <input type="file" name="audio" accept="audio/*" capture />
        </label>{" "}
        <button type="submit" className="button small" name="intent" value="dictate" formNoValidate>
          Pasar a texto
        </button>
      </details>
      <Recorder />
    </>
  );
}

type State = "idle" | "recording" | "writing";
const words: Record<State, string> = { idle: "Dictar", recording: "Parar", writing: "Escribiendo…" };

function Recorder() {
  const [state, setState] = useState<State>("idle");
  const [problem, setProblem] = useState("");
  // The microphone is not left on when the composer is gone.
  useEffect(() => {
    if (state === "recording") return () => void import("./record.ts").then(({ stop }) => stop());
  }, [state]);
  const press = async (form: HTMLFormElement | null) => {
    if (!form) return;
    const { record, stop } = await import("./record.ts");
    if (state === "recording") return stop();
    setProblem("");
    setProblem(await record(form, setState));
    setState("idle");
  };
  return (
    <span className="scripted">
      <button
        type="button"
        className="button quiet small"
        aria-pressed={state === "recording"}
        disabled={state === "writing"}
        onClick={(event) => void press(event.currentTarget.form)}
      >
        <Icon name={state === "recording" ? "stop" : "voice"} />
        <span className="text">{words[state]}</span>
      </button>
      <span role="status" className={problem ? "error" : "sr-only"}>
        {problem || (state === "recording" ? "Grabando" : "")}
      </span>
    </span>
  );
}
