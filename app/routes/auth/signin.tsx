import { data, isRouteErrorResponse, Link, redirect, useSearchParams } from "react-router";
import { z } from "zod";
import { ApiProblem, accepted, read } from "../../answers.server.ts";
import { apiContext, formContext } from "../../context.ts";
import { sendFields, textOf } from "../../form.server.ts";
import { heldAction, safeReturn } from "../../guards.server.ts";
import { restoreDraft } from "../../held-draft.server.ts";
import { getPerson } from "../../person.server.ts";
import Resend from "../../ui/resend.tsx";
import { notTaken } from "../../ui/send-form.ts";
import { isUnanswered } from "../../ui/unanswered.ts";
import type { Route } from "./+types/signin";
import { SignInForm, type SignInRefusal } from "./sign-in-form.tsx";

export const meta: Route.MetaFunction = () => [{ title: "Iniciar sesión · Tertulia" }];

export const loader = ({ context }: Route.LoaderArgs) => read(context.get(apiContext).auth.options.$get());

const fields = z.object({
  email: z.string().default(""),
  password: z.string().default(""),
  ticket: z.string().optional(),
  code: z.string().default(""),
});

type Back = { signedIn: true } | { resend: [string, string][]; action: string };
export type SignInResult = Back | SignInRefusal;

export async function action({ context, url }: Route.ActionArgs) {
  const form = context.get(formContext);
  const { auth } = context.get(apiContext);
  // Signed in meanwhile, in another tab.
  if (await getPerson(context)) return comeBack();
  return sendFields(context, fields, async ({ email, password, ticket, code }) => {
    try {
      await (ticket
        ? accepted(auth.signin.code.$post({ json: { ticket, code } }))
        : accepted(auth.signin.$post({ json: { email, password } })));
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      const next = error.body.ticket ?? (error.body.errors?.code && ticket);
      if (!next) throw error;
      // The ticket of a right password goes on to the code; a wrong code leaves it as it was.
      const values = Object.fromEntries(heldFields(form).map(([name, value]) => [`held.${name}`, value]));
      return data<SignInRefusal>({ values, errors: error.body.errors ?? {}, ticket: next }, error.status);
    }
    return comeBack();
  });

  /** Where this form was to lead: on, to a form that waits, or nowhere as it stands over a page. */
  async function comeBack(): Promise<Back> {
    if (form.has("stay")) return { signedIn: true };
    const to = heldAction(form);
    if (to) {
      const resend = heldFields(form).filter(([name]) => name !== "action");
      // Of a form of passwords nothing was kept: there is only the way back to it.
      if (resend.every(([, value]) => value === "")) throw redirect(to);
      return { resend, action: to };
    }
    const volver = safeReturn(url.searchParams.get("volver"));
    await restoreDraft(context, volver, form);
    throw redirect(volver);
  }
}

/** Over a page, the token may be of a session that ended meanwhile: the form stays, with the one that counts now. */
export async function clientAction({ request, serverAction }: Route.ClientActionArgs) {
  const kept = request.clone();
  try {
    return await serverAction();
  } catch (error) {
    if (isUnanswered(error)) return data({ ...notTaken(await kept.formData()), message: noAnswer }, 503);
    if (!isRouteErrorResponse(error) || !error.data?.resend) throw error;
    const message = "La sesión ha cambiado en otra pestaña. Pulsa otra vez «Iniciar sesión».";
    return data({ ...notTaken(await kept.formData()), message, formToken: error.data.formToken as string }, 403);
  }
}

const noAnswer = "No se ha podido conectar con el servidor. Vuelve a intentarlo.";

const prefix = "held.";
const heldFields = (form: FormData): [string, string][] =>
  [...form.keys()]
    .filter((name) => name.startsWith(prefix))
    .map((name) => [name.slice(prefix.length), textOf(form, name)]);

export default function SignIn({ loaderData: { signup }, actionData }: Route.ComponentProps) {
  const [search] = useSearchParams();
  const volver = search.get("volver") ?? "";
  if (actionData && "resend" in actionData) return <Resend fields={actionData.resend} action={actionData.action} />;
  const result: SignInRefusal | undefined = actionData && "errors" in actionData ? actionData : undefined;
  const held = Object.entries(result?.values ?? {})
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, value]) => [name.slice(prefix.length), value]);
  return (
    <>
      <h1>{result?.ticket ? "Verificación en dos pasos" : "Iniciar sesión"}</h1>
      <SignInForm volver={volver} held={Object.fromEntries(held)} result={result} />
      {!result?.ticket && (
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
