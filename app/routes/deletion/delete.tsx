import { replace } from "react-router";
import { sendForm } from "../../ui/forms/send-form.ts";
import { named } from "../../ui/navigation/page-title.ts";
import { AlertDialog } from "../../ui/overlays/alert-dialog.tsx";
import { tellRefusal } from "../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../web/context.ts";
import type { Route } from "./+types/delete";
import { deletionAt } from "./deletions.server.ts";

export const meta: Route.MetaFunction = ({ loaderData, matches }) => named(matches, loaderData?.title ?? "Eliminar");
export const handle = { dialog: true };

export async function loader({ context, params: { id }, pattern }: Route.LoaderArgs) {
  const { asks, title, closeTo } = deletionAt(pattern);
  return { title, closeTo, question: await asks(context.get(apiContext), id) };
}

export async function action({ context, params: { id }, pattern }: Route.ActionArgs) {
  const { remove, done, closeTo } = deletionAt(pattern);
  await remove(context.get(apiContext), id).then(
    () => context.get(sessionContext).flash({ type: "success", title: done }),
    tellRefusal(context),
  );
  return replace(closeTo, 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

/** Asks before one of a person's own things is deleted. */
export default function Delete({ loaderData: { title, closeTo, question } }: Route.ComponentProps) {
  return (
    <AlertDialog title={title} closeTo={closeTo}>
      <p>{question}</p>
    </AlertDialog>
  );
}
