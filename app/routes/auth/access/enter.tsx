import { data, Link, redirect, redirectDocument, useSearchParams } from "react-router";
import { z } from "zod";
import { Field } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { FormTokenField } from "../../../ui/forms/post-form.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { accepted, read, refusalIn } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import { safeReturn } from "../../../web/safe-return.server.ts";
import type { Route } from "./+types/enter";
import { Cannot } from "./cannot.tsx";
import { keepBegun } from "./entry-cookie.server.ts";
import { JoinForm, type JoinTicket } from "./join-form.tsx";

export const meta = titled("Iniciar sesión");

/** Leads to a provider of OpenID Connect, or shows the form of a directory (LDAP). */
export async function loader({ context, params: { id }, url }: Route.LoaderArgs) {
  const { auth } = context.get(apiContext);
  const { accesses } = await read(auth.options.$get());
  const access = accesses.find((one) => one.id === id);
  if (!access) throw data(null, 404);
  if (access.kind === "ldap") return { name: access.name, refusal: undefined };
  const json = { redirect: `${url.origin}/auth/oidc/callback` };
  const volver = url.searchParams.get("volver") ?? "";
  try {
    const { url: there, ...begun } = await read(auth.oidc[":id"].$post({ param: { id }, json }));
    const kept = await keepBegun(url, { accessId: id, volver, ...begun });
    throw redirectDocument(there, { headers: { "Set-Cookie": kept } });
  } catch (error) {
    return { name: access.name, refusal: refusalIn(error, []).detail };
  }
}

const fields = z.object({ username: z.string().default(""), password: z.string().default("") });

export const action = ({ context, params: { id }, url }: Route.ActionArgs) =>
  sendFields(context, fields, async (json) => {
    const { auth } = context.get(apiContext);
    const answer = await accepted(auth.ldap[":id"].$post({ param: { id }, json }));
    const volver = url.searchParams.get("volver") ?? "";
    if (answer.status !== 202) throw redirect(safeReturn(volver));
    const ticket: JoinTicket = await answer.json();
    return { joining: { ...ticket, accessId: id, volver } };
  });

export default function Enter({ loaderData: { name, refusal }, actionData }: Route.ComponentProps) {
  const [search] = useSearchParams();
  const volver = search.get("volver") ?? "";
  if (refusal) return <Cannot sentence={refusal} volver={volver} />;
  if (actionData && "joining" in actionData) return <JoinForm joining={actionData.joining} />;
  return (
    <>
      <h1>Entrar con {name}</h1>
      <form className="fields" method="post">
        <FormTokenField />
        <Fields id="directorio" result={actionData}>
          <Field name="username" label="Usuario" autoComplete="username" autoCapitalize="none" required />
          <Field name="password" label="Contraseña" type="password" autoComplete="current-password" required />
          <button type="submit" className="button primary">
            Entrar
          </button>
        </Fields>
      </form>
      <p className="after">
        <Link to={`/auth/signin${volver && `?volver=${encodeURIComponent(volver)}`}`}>Entrar de otra manera</Link>
      </p>
    </>
  );
}
