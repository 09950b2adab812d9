import { replace } from "react-router";
import { z } from "zod";
import { limits } from "../../../process/limits.ts";
import { SelectField, TextField } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { FormDialog } from "../../../ui/overlays/form-dialog.tsx";
import { accepted, read, whenStatus } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import type { Route } from "./+types/opinion";

export const meta = titled("Tu opinión de la respuesta");
export const handle = { dialog: true };

export async function loader({ context, params, url }: Route.LoaderArgs) {
  const param = { id: params.messageId };
  const said = await read(context.get(apiContext).api.message[":id"].opinion.$get({ param })).catch(
    whenStatus(404, undefined),
  );
  return {
    given: said !== undefined,
    useful: url.searchParams.get("util") ?? (said?.useful === false ? "0" : "1"),
    reason: said?.reason ?? "",
  };
}

const fields = z.object({ useful: z.string().default("1"), reason: z.string().optional() });

export const action = ({ context, params: { id, messageId } }: Route.ActionArgs) =>
  sendFields(context, fields, async ({ useful, reason }) => {
    const { opinion } = context.get(apiContext).api.message[":id"];
    const param = { id: messageId };
    const takesBack = useful === "none";
    const json = { useful: useful === "1", reason: reason ?? "" };
    await accepted(takesBack ? opinion.$delete({ param }) : opinion.$put({ param, json }));
    const title = takesBack ? "Tu opinión se ha retirado." : "Gracias: tu opinión se ha guardado.";
    // The buttons below a reply, which ask no reason, show the opinion themselves.
    if (reason !== undefined) context.get(sessionContext).flash({ type: "success", title });
    return replace(`/conversation/chat/${id}`, 303);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

const choices = [
  { id: "1", name: "Útil" },
  { id: "0", name: "No útil" },
];

export default function Opinion({ loaderData: { given, useful, reason }, actionData, params }: Route.ComponentProps) {
  return (
    <FormDialog title="Tu opinión de la respuesta" closeTo={`/conversation/chat/${params.id}`}>
      <p>
        Quien administra leerá tu opinión junto con tu pregunta y esta respuesta, para elegir y mejorar los modelos.
      </p>
      <Fields id="opinion" result={actionData ?? undefined}>
        <SelectField
          name="useful"
          label="La respuesta te ha sido"
          choices={given ? [...choices, { id: "none", name: "Retirar mi opinión" }] : choices}
          defaultValue={useful}
        />
        <TextField
          name="reason"
          label="Por qué"
          hint="Si quieres."
          rows={3}
          maxLength={limits.opinionReason}
          defaultValue={reason}
        />
      </Fields>
    </FormDialog>
  );
}
