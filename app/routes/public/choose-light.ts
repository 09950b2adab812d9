import { redirect } from "react-router";
import { formContext } from "../../web/context.ts";
import { textOf } from "../../web/forms/form.server.ts";
import { lightChoices, lightCookie } from "../../web/light/choice.server.ts";
import { pathOf } from "../../web/referer.server.ts";
import type { Route } from "./+types/choose-light";

/** Keeps in a cookie whether pages are to be light, for people with and without account, and leads back to the page. */
export async function action({ context, request }: Route.ActionArgs) {
  const given = textOf(context.get(formContext), "choice");
  const choice = lightChoices.find((one) => one === given) ?? "auto";
  const headers = { "Set-Cookie": await lightCookie(choice) };
  return redirect(pageBefore(request.headers.get("Referer")), { status: 303, headers });
}

// The home page, where a browser doesn't tell: the foot is on public pages, too.
const pageBefore = (referer: string | null) =>
  referer && URL.parse(referer)?.pathname !== "/" ? pathOf(referer) : "/";

export const loader = () => redirect("/");
