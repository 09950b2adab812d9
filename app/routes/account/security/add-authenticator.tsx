import { renderSVG } from "uqr";
import { z } from "zod";
import { Field } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { CurrentPasswordField } from "../../../ui/forms/person-fields.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { Dialog, DialogFoot } from "../../../ui/overlays/dialog.tsx";
import { FormDialog } from "../../../ui/overlays/form-dialog.tsx";
import { read, whenStatus } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import type { Route } from "./+types/add-authenticator";
import { ShownOnce } from "./shown-once.tsx";

export const meta = titled("Verificación en dos pasos");
export const handle = { dialog: true };

export async function loader({ context }: Route.LoaderArgs) {
  const begun = await read(context.get(apiContext).auth.authenticator.$post()).catch(whenStatus(409, null));
  // Already active: nothing is left to show, except the recovery codes just after the activation.
  if (!begun) return null;
  const { secret, uri } = begun;
  return { secret, uri, picture: renderSVG(uri, { border: 2 }).replace("<svg", '<svg aria-hidden="true"') };
}

const fields = z.object({
  secret: z.string().default(""),
  code: z.string().default(""),
  currentPassword: z.string().default(""),
});

export const action = ({ context }: Route.ActionArgs) =>
  sendFields(context, fields, (json) => read(context.get(apiContext).auth.authenticator.$put({ json })));

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

const title = "Verificación en dos pasos";

export default function AddAuthenticator({ loaderData, actionData }: Route.ComponentProps) {
  if (actionData && "recoveryCodes" in actionData) return <RecoveryCodes codes={actionData.recoveryCodes} />;
  if (!loaderData) {
    return (
      <Dialog title={title} closeTo="/user/seguridad">
        <p className="body">Ya está activada.</p>
        <DialogFoot cancelTo="/user" word="Cerrar" />
      </Dialog>
    );
  }
  return (
    <FormDialog title={title} closeTo="/user/seguridad" preventScrollReset submit="Activar">
      <p>Lee este código con tu aplicación (Aegis, Google Authenticator, 1Password…) o escribe en ella la clave.</p>
      {/* Safe: the server draws the picture, from a URI of its own. */}
      <div className="qr" role="img" aria-label="Código QR" dangerouslySetInnerHTML={{ __html: loaderData.picture }} />
      <p>
        Clave: <code className="break-normal">{loaderData.secret.match(/.{1,4}/g)?.join(" ")}</code>
      </p>
      <p>
        <a href={loaderData.uri}>Abrir en la aplicación de este dispositivo</a>
      </p>
      <input type="hidden" name="secret" value={loaderData.secret} />
      <Fields id="verificacion" result={actionData ?? undefined}>
        <Field
          name="code"
          label="Código de seis cifras"
          inputMode="numeric"
          autoComplete="one-time-code"
          required
          maxLength={10}
          autoFocus
        />
        <CurrentPasswordField />
      </Fields>
    </FormDialog>
  );
}

function RecoveryCodes({ codes }: { codes: string[] }) {
  return (
    <ShownOnce title="Códigos de recuperación" done="Los he guardado">
      <p>
        La verificación está activada. Guarda estos códigos donde no los pierdas: cada uno vale una vez si no tienes el
        teléfono, y no se vuelven a mostrar.
      </p>
      <ul className="codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
    </ShownOnce>
  );
}
