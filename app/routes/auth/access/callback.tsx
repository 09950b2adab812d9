import { data, redirect } from "react-router";
import { fetchSite } from "remix-utils/sec-fetch";
import { z } from "zod";
import { titled } from "../../../ui/navigation/page-title.ts";
import { accepted, refusalIn } from "../../../web/api-result.server.ts";
import { apiContext, formContext } from "../../../web/context.ts";
import { sendFields, textOf } from "../../../web/forms/form.server.ts";
import { comeBack } from "../../../web/guards.server.ts";
import { safeReturn } from "../../../web/safe-return.server.ts";
import type { Route } from "./+types/callback";
import { Cannot } from "./cannot.tsx";
import { forgetBegun, readBegun } from "./entry-cookie.server.ts";
import { JoinForm, type JoinTicket } from "./join-form.tsx";

export const meta = titled("Iniciar sesión");

/**
 * A provider's page leads here without our Strict cookie: the page is loaded once more from here, with it. Otherwise the answer
 * would replace the session of somebody who is signed in, and the next page would not see the new one.
 */
export const middleware: Route.MiddlewareFunction[] = [
  async ({ request }) => (fetchSite(request) === "cross-site" ? comeBack() : undefined),
];

const notBegun = "Esta entrada no ha empezado en este navegador, o hace demasiado tiempo. Empieza otra vez.";

/** Page to which every provider leads back; the `state` tells which sign-in was begun, and only this browser knows it. */
export async function loader({ context, request, url }: Route.LoaderArgs) {
  if (request.method !== "GET") return { refusal: notBegun, volver: "", joining: undefined };
  const begun = await readBegun(request, url);
  const headers = { "Set-Cookie": await forgetBegun(url) };
  if (!begun || url.searchParams.get("state") !== begun.state) {
    return data({ refusal: notBegun, volver: begun?.volver ?? "", joining: undefined }, { status: 422, headers });
  }
  const { accessId, volver, ...expected } = begun;
  const json = { ...expected, redirect: `${url.origin}/auth/oidc/callback`, brought: url.search };
  try {
    const answer = await accepted(
      context.get(apiContext).auth.oidc[":id"].end.$post({ param: { id: accessId }, json }),
    );
    if (answer.status !== 202) throw redirect(safeReturn(volver), { headers });
    const ticket: JoinTicket = await answer.json();
    const joining = { ...ticket, accessId, volver };
    return data({ refusal: undefined, volver, joining }, { headers });
  } catch (error) {
    const { detail, status } = refusalIn(error, []);
    return data({ refusal: detail, volver, joining: undefined }, { status, headers });
  }
}

export const headers: Route.HeadersFunction = ({ loaderHeaders }) => loaderHeaders;

const fields = z.object({ joining: z.string(), password: z.string().default(""), code: z.string().default("") });

export const action = ({ context }: Route.ActionArgs) =>
  sendFields(context, fields, async ({ joining: ticket, ...proof }) => {
    const form = context.get(formContext);
    const param = { id: textOf(form, "accessId") };
    await accepted(context.get(apiContext).auth.oidc[":id"].join.$post({ param, json: { ticket, ...proof } }));
    throw redirect(safeReturn(textOf(form, "volver")));
  });

export default function Callback({ loaderData, actionData }: Route.ComponentProps) {
  const { values } = actionData ?? {};
  if (values?.joining) {
    const { joining: ticket, email = "", accessId = "", volver = "", needsCode } = values;
    return <JoinForm joining={{ ticket, email, accessId, volver, needsCode: needsCode === "1" }} result={actionData} />;
  }
  if (loaderData.joining) return <JoinForm joining={loaderData.joining} />;
  return <Cannot sentence={loaderData.refusal ?? notBegun} volver={loaderData.volver} />;
}
