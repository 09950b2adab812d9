import { Link, redirect, useSearchParams } from "react-router";
import { accepted } from "../../answers.server.ts";
import { apiContext, formContext } from "../../context.ts";
import { formProblem, textOf } from "../../form.server.ts";
import { safeReturn } from "../../guards.server.ts";
import { restoreDraft } from "../../held-draft.server.ts";
import type { Route } from "./+types/signin";
import { SignInForm } from "./sign-in-form.tsx";

export const meta: Route.MetaFunction = () => [{ title: "Iniciar sesión · Tertulia" }];

export async function action({ context, url }: Route.ActionArgs) {
  const form = context.get(formContext);
  const api = context.get(apiContext);
  const volver = safeReturn(url.searchParams.get("volver"));
  try {
    await accepted(
      api.auth.signin.$post({ json: { email: textOf(form, "email"), password: textOf(form, "password") } }),
    );
  } catch (error) {
    return formProblem(error, form, ["email", ...[...form.keys()].filter((name) => name.startsWith("held."))]);
  }
  await restoreDraft(context, volver, form);
  throw redirect(volver);
}

export default function SignIn({ actionData }: Route.ComponentProps) {
  const [search] = useSearchParams();
  const volver = search.get("volver") ?? "";
  const held = Object.entries(actionData?.values ?? {})
    .filter(([name]) => name.startsWith("held."))
    .map(([name, value]) => [name.slice("held.".length), value]);
  return (
    <>
      <h1>Iniciar sesión</h1>
      <SignInForm volver={volver} held={Object.fromEntries(held)} result={actionData} />
      <p className="after">
        ¿Aún no tienes cuenta?{" "}
        <Link to={`/auth/signup${volver && `?volver=${encodeURIComponent(volver)}`}`}>Crear cuenta</Link>
      </p>
    </>
  );
}
