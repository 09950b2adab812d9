import { type FormEvent, use, useState } from "react";
import { data, redirect, useSubmit } from "react-router";
import { z } from "zod";
import { limits } from "../../../process/limits.ts";
import { objectOf } from "../../../process/text/json.ts";
import { Field } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { CurrentPasswordField } from "../../../ui/forms/person-fields.tsx";
import { FormToken } from "../../../ui/forms/post-form.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { FormDialog } from "../../../ui/overlays/form-dialog.tsx";
import { accepted } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import type { Route } from "./+types/add-passkey";

export const meta = titled("Añadir llave de acceso");
export const handle = { dialog: true, scripts: "needed" };

export async function loader({ context }: Route.LoaderArgs) {
  return { hasPassword: (await requireUser(context)).user.hasPassword };
}

const fields = z.object({
  name: z.string().default(""),
  currentPassword: z.string().optional(),
  ticket: z.string().default(""),
  response: z.string().default("{}"),
});

export async function action({ context, url: { origin } }: Route.ActionArgs) {
  const { passkey } = context.get(apiContext).auth;
  return sendFields(context, fields, async ({ response, ...json }) => {
    const { id, ...signed } = objectOf(response) ?? {};
    if (typeof id !== "string") return data({ values: {}, errors: {}, message: noScript }, 422);
    await accepted(passkey.$post({ json: { ...json, origin, response: { ...signed, id } } }));
    context.get(sessionContext).flash({ type: "success", title: "Ya puedes entrar con esta llave." });
    return redirect("/user/seguridad", 303);
  });
}
const noScript = "Para hacer una llave hace falta JavaScript.";

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

/** The device makes the key between the press of the button and the sending of the form. */
export default function AddPasskey({ loaderData: { hasPassword }, actionData }: Route.ComponentProps) {
  const formToken = use(FormToken);
  const submit = useSubmit();
  const [problem, setProblem] = useState("");
  const make = async (event: FormEvent<HTMLFormElement>) => {
    const form = event.currentTarget;
    event.preventDefault();
    setProblem("");
    const { makePasskey } = await import("../../../ui/passkeys.ts");
    const made = await makePasskey(formToken);
    if (typeof made === "string") return setProblem(made);
    const sent = new FormData(form);
    sent.set("ticket", made.ticket);
    sent.set("response", made.response);
    await submit(sent, { method: "post", action: "/user/seguridad/llaves/crear", preventScrollReset: true });
  };
  const result = actionData && "errors" in actionData ? actionData : undefined;
  return (
    <FormDialog
      title="Añadir llave de acceso"
      closeTo="/user/seguridad"
      submit="Añadir"
      onSubmit={make}
      preventScrollReset
    >
      <p>
        El dispositivo te pedirá la huella, la cara o el PIN. La llave se queda en él, o en tu gestor de contraseñas.
      </p>
      <Fields id="llave" result={result}>
        <Field
          name="name"
          label="Nombre"
          hint="Para reconocerla: el dispositivo o el gestor que la guarda."
          required
          maxLength={limits.name}
          autoFocus
        />
        {hasPassword && <CurrentPasswordField />}
      </Fields>
      <p role="status" className="error">
        {problem}
      </p>
    </FormDialog>
  );
}
