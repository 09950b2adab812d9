import { use, useEffect, useState } from "react";
import { useSubmit } from "react-router";
import { FormToken, PostForm } from "../../../ui/forms/post-form.tsx";
import { canSubscribe, subscribe } from "./subscribe.ts";

type Props = {
  /** The key with which the browser's push service is asked. */
  deviceKey: string;
  /** Number of devices that are told; this device counts if `here` is true. */
  count: number;
  here: boolean;
};

/** The devices on which the person is told of replies. Turning notices on takes a script; turning them off does not. */
export function DevicesTold({ deviceKey, count, here }: Props) {
  const others = here ? count - 1 : count;
  return (
    <>
      {here && <p>En este dispositivo se avisa, también con la página cerrada, hasta que cierres la sesión.</p>}
      {others > 0 && (
        <p>{others === 1 ? "Se avisa en otro dispositivo." : `Se avisa en otros ${others} dispositivos.`}</p>
      )}
      {!here && <TellHere deviceKey={deviceKey} />}
      {count > 0 && (
        <PostForm action="/user/dispositivos" className="buttons" preventScrollReset>
          {here && (
            <button type="submit" className="button" name="intent" value="end-here">
              No avisar en este dispositivo
            </button>
          )}{" "}
          {others > 0 && (
            <button type="submit" className="button" name="intent" value="end">
              No avisar en ninguno
            </button>
          )}
        </PostForm>
      )}
    </>
  );
}

function TellHere({ deviceKey }: Pick<Props, "deviceKey">) {
  const formToken = use(FormToken);
  const submit = useSubmit();
  const [can, setCan] = useState(false);
  const [state, setState] = useState<{ asking: boolean; problem: string }>({ asking: false, problem: "" });
  useEffect(() => setCan(canSubscribe()), []);
  if (!can) return null;
  const press = async () => {
    setState({ asking: true, problem: "" });
    const made = await subscribe(deviceKey);
    setState({ asking: false, problem: typeof made === "string" ? made : "" });
    if (typeof made === "string") return;
    const sent = { ...made, formToken, intent: "here" };
    await submit(sent, { method: "post", action: "/user/dispositivos", preventScrollReset: true });
  };
  return (
    <p>
      <button type="button" className="button" disabled={state.asking} onClick={() => void press()}>
        {state.asking ? "Preguntando…" : "Avisar en este dispositivo"}
      </button>{" "}
      <span role="status" className={state.problem ? "error" : "sr-only"}>
        {state.problem}
      </span>
    </p>
  );
}
