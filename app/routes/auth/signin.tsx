import { data, Link, redirect, useSearchParams } from "react-router";
import { z } from "zod";
import { ApiProblem, accepted, read } from "../../answers.server.ts";
import { apiContext, formContext } from "../../context.ts";
import { sendFields, textOf } from "../../form.server.ts";
import { getPerson, heldAction, safeReturn } from "../../guards.server.ts";
import { restoreDraft } from "../../held-draft.server.ts";
import { Resend } from "../../ui/resend.tsx";
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
    if (to) return { resend: heldFields(form).filter(([name]) => name !== "action"), action: to };
    const volver = safeReturn(url.searchParams.get("volver"));
    await restoreDraft(context, volver, form);
    throw redirect(volver);
  }
}

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
      {signup && (
        <p className="after">
          ¿Aún no tienes cuenta?{" "}
          <Link to={`/auth/signup${volver && `?volver=${encodeURIComponent(volver)}`}`}>Crear cuenta</Link>
        </p>
      )}
    </>
  );
}
