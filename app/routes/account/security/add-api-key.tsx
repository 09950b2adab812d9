import { z } from "zod";
import { limits } from "../../../process/limits.ts";
import { Field } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { FormDialog } from "../../../ui/overlays/form-dialog.tsx";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import type { Route } from "./+types/add-api-key";
import { ShownOnce } from "./shown-once.tsx";

export const meta = titled("Crear clave");
export const handle = { dialog: true };

const fields = z.object({ name: z.string().default(""), writes: z.string().optional() });

export const action = ({ context }: Route.ActionArgs) =>
  sendFields(context, fields, async ({ name, writes }) => {
    const json = { name, scope: writes ? ("write" as const) : ("read" as const) };
    const { token } = await read(context.get(apiContext).api.key.$post({ json }));
    return { token };
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function AddApiKey({ actionData }: Route.ComponentProps) {
  if (actionData && "token" in actionData) return <NewKey token={actionData.token} />;
  return (
    <FormDialog title="Crear clave" closeTo="/user/seguridad" preventScrollReset>
      <Fields id="clave" result={actionData ?? undefined}>
        <Field
          name="name"
          label="Nombre"
          hint="Para reconocerla: el programa que la va a usar."
          required
          maxLength={limits.name}
          autoFocus
        />
        <label className="check">
          <input
            type="checkbox"
            name="writes"
            value="1"
            defaultChecked={actionData ? actionData.values.writes === "1" : true}
          />
          <span>Puede escribir y conversar; sin marcar, solo lee</span>
        </label>
      </Fields>
    </FormDialog>
  );
}

function NewKey({ token }: { token: string }) {
  return (
    <ShownOnce title="Clave creada" done="La he copiado">
      <p>Cópiala ahora en el programa que la va a usar: no se vuelve a mostrar.</p>
      <p>
        <code className="break-all">{token}</code>
      </p>
    </ShownOnce>
  );
}
