import { data, isRouteErrorResponse, Link, redirect, useSearchParams } from "react-router";
import { z } from "zod";
import Resend from "../../ui/forms/resend.tsx";
import { notTaken } from "../../ui/forms/send-form.ts";
import { isUnanswered } from "../../ui/forms/unanswered.ts";
import { titled } from "../../ui/navigation/page-title.ts";
import { accepted, read, refusalIn } from "../../web/api-result.server.ts";
import { apiContext, formContext } from "../../web/context.ts";
import { getCurrentUser } from "../../web/current-user.server.ts";
import { isComposer, restoreDraft } from "../../web/forms/drafts.server.ts";
import { sendFields } from "../../web/forms/form.server.ts";
import { carriedIn, typedFields, type UnsentForm } from "../../web/forms/unsent-form.server.ts";
import { safeReturn } from "../../web/safe-return.server.ts";
import type { Route } from "./+types/signin";
import { Accesses } from "./access/accesses.tsx";
import { SignInForm, type SignInRefusal } from "./sign-in-form.tsx";

export const meta = titled("Iniciar sesión");

export const loader = ({ context }: Route.LoaderArgs) => read(context.get(apiContext).auth.options.$get());

const fields = z.object({
  email: z.string().default(""),
  password: z.string().default(""),
  ticket: z.string().optional(),
  code: z.string().default(""),
});

type Back = { signedIn: true } | Pick<UnsentForm, "fields" | "action">;
export type SignInResult = Back | SignInRefusal;

export async function action({ context, url }: Route.ActionArgs) {
  const form = context.get(formContext);
  const { auth } = context.get(apiContext);
  // Signed in meanwhile, in another tab.
  if (await getCurrentUser(context)) return comeBack();
  if (form.has("entered")) {
    return data<SignInRefusal>(
      { values: typedFields(form), errors: {}, message: "En la otra pestaña aún no has entrado." },
      401,
    );
  }
  return sendFields(context, fields, async ({ email, password, ticket, code }) => {
    try {
      await (ticket
        ? accepted(auth.signin.code.$post({ json: { ticket, code } }))
        : accepted(auth.signin.$post({ json: { email, password } })));
    } catch (error) {
      const { errors = {}, status, ...refusal } = refusalIn(error, []);
      const next = refusal.ticket ?? (errors.code && ticket);
      if (!next) throw error;
      // The ticket of a correct password is carried to the code form; a wrong code does not use it up.
      return data<SignInRefusal>({ values: typedFields(form), errors, ticket: next }, status);
    }
    return comeBack();
  });

  /** After sign-in: redirect, resume the form that was carried, or stay in the dialog. */
  async function comeBack(): Promise<Back> {
    if (form.has("stay")) return { signedIn: true };
    const carried = carriedIn(form);
    if (!carried) throw redirect(safeReturn(url.searchParams.get("volver")));
    const composer = formOf(carried.fields);
    if (isComposer(composer)) throw redirect(await restoreDraft(context, composer));
    // Password fields are never carried, so the person can only go back to that form.
    if (carried.fields.every(([, value]) => value === "")) throw redirect(carried.action);
    return carried;
  }
}

function formOf(fields: [string, string][]): FormData {
  const form = new FormData();
  for (const [name, value] of fields) form.set(name, value);
  return form;
}

/** In the dialog, the form token may belong to a session that ended meanwhile: return the valid one. */
export async function clientAction({ request, serverAction }: Route.ClientActionArgs) {
  const kept = request.clone();
  try {
    return await serverAction();
  } catch (error) {
    if (isUnanswered(error)) return data({ ...notTaken(await kept.formData()), message: noAnswer }, 503);
    if (!isRouteErrorResponse(error) || !error.data?.fields) throw error;
    const form = await kept.formData();
    const button = form.has("entered") ? "Ya he entrado" : "Iniciar sesión";
    const message = `La sesión ha cambiado en otra pestaña. Pulsa otra vez «${button}».`;
    const { formToken }: UnsentForm = error.data;
    return data({ ...notTaken(form), message, formToken }, 403);
  }
}

const noAnswer = "No se ha podido conectar con el servidor. Vuelve a intentarlo.";

export default function SignIn({ loaderData: { signup, password, accesses }, actionData }: Route.ComponentProps) {
  const [search] = useSearchParams();
  const volver = search.get("volver") ?? "";
  if (actionData && "fields" in actionData) return <Resend {...actionData} />;
  const result: SignInRefusal | undefined = actionData && "errors" in actionData ? actionData : undefined;
  return (
    <>
      <h1>{result?.ticket ? "Verificación en dos pasos" : "Iniciar sesión"}</h1>
      {!result?.ticket && <Accesses accesses={accesses} volver={volver} />}
      {password && accesses.length > 0 && !result?.ticket && <p className="or">o con tu correo</p>}
      {password && <SignInForm volver={volver} result={result} />}
      {!password && accesses.length === 0 && (
        <p>Aquí no se entra con contraseña, y aún no hay otra manera. Avisa a quien administra.</p>
      )}
      {password && !result?.ticket && (
        <p className="after scripted">
          <Link to={`/auth/llave${volver && `?volver=${encodeURIComponent(volver)}`}`}>
            Entrar con una llave de acceso
          </Link>
        </p>
      )}
      {password && !result?.ticket && (
        <p className="after">
          <Link to="/auth/reset">¿Has olvidado la contraseña?</Link>
        </p>
      )}
      {signup && !result?.ticket && (
        <p className="after">
          ¿Aún no tienes cuenta?{" "}
          <Link to={`/auth/signup${volver && `?volver=${encodeURIComponent(volver)}`}`}>Crear cuenta</Link>
        </p>
      )}
    </>
  );
}
