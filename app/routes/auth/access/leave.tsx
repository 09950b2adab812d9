import { data, redirect } from "react-router";
import { named } from "../../../ui/navigation/page-title.ts";
import { Wordmark } from "../../../ui/wordmark.tsx";
import type { Route } from "./+types/leave";
import { forgetLeaving, readLeaving } from "./leaving-cookie.server.ts";

export const meta: Route.MetaFunction = ({ loaderData, matches }) => [
  ...named(matches, "Has salido"),
  ...(loaderData ? [{ httpEquiv: "refresh", content: `0;url=${loaderData.url}` }] : []),
];

/** Leads on to the provider, whose session ends there. A form may not lead to another site (CSP); a page may. */
export async function loader({ request, url }: Route.LoaderArgs) {
  const there = await readLeaving(request, url);
  if (!there) throw redirect("/auth/signin");
  return data({ url: there }, { headers: { "Set-Cookie": await forgetLeaving(url) } });
}

export const headers: Route.HeadersFunction = ({ loaderHeaders }) => loaderHeaders;

export default function Leave({ loaderData }: Route.ComponentProps) {
  return (
    <main className="entry" id="contenido">
      <Wordmark />
      <h1>Has salido</h1>
      <p className="mb-6">Falta salir de donde entraste.</p>
      <p>
        <a className="button primary" href={loaderData.url}>
          Salir también de allí
        </a>
      </p>
    </main>
  );
}
