import { data, redirect } from "react-router";
import { objectOf } from "../../../process/text/json.ts";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { accepted, read, refusalIn } from "../../../web/api-result.server.ts";
import { apiContext, type Context, formContext, sessionContext } from "../../../web/context.ts";
import { type FormResult, textOf } from "../../../web/forms/form.server.ts";
import { typedFields } from "../../../web/forms/unsent-form.server.ts";
import type { Route } from "./+types/decision";
import { DecisionForm } from "./decision-form.tsx";
import { fieldsOf, inputFrom } from "./schema-fields.ts";
import { showCallPart } from "./show-call.ts";

export const meta = titled("Decidir");

/** A call that waits for the person, on a page of its own: a refused form comes back to this page with its errors. */
export async function loader({ context, params }: Route.LoaderArgs) {
  const { reply, part } = await findCall(context, params);
  const back = `/conversation/chat/${reply.chatId}#m-${reply.id}`;
  if (!part?.asks) throw redirect(back);
  const { decision, words } = showCallPart(part, { replyId: reply.id, folds: true });
  if (!decision) throw redirect(back);
  return { decision, words, back };
}

export async function action({ context, params }: Route.ActionArgs) {
  const form = context.get(formContext);
  const { reply, part } = await findCall(context, params);
  const back = `/conversation/chat/${reply.chatId}#m-${reply.id}`;
  const asks = part?.asks;
  const verdict = textOf(form, "decision");
  const decision: "once" | "chat" | "no" = verdict === "chat" || verdict === "no" ? verdict : "once";
  const given = asks?.question ? {} : (objectOf(part?.input ?? "{}") ?? {});
  const fields = asks ? fieldsOf(asks.question?.schema ?? asks.schema, given, { asksFor: asks.question !== null }) : [];
  const { input, errors } = inputFrom(fields, given, (name) => textOf(form, name));
  if (decision !== "no" && Object.keys(errors).length > 0) {
    return refused({ values: typedFields(form), errors }, 422);
  }
  // Sent as text, so that numbers that a double can't hold stay as they are.
  const whole = JSON.stringify(input);
  const said = decision === "no" ? { why: textOf(form, "why") } : asks?.question ? { answer: whole } : { input: whole };
  const json = { n: Number(params.n), hash: textOf(form, "hash"), decision, ...said };
  try {
    await accepted(context.get(apiContext).api.message[":id"].decision.$post({ param: { id: reply.id }, json }));
  } catch (error) {
    const { detail, errors: wrong = {}, status } = refusalIn(error, [404]);
    const isTyped = "input" in wrong || "why" in wrong;
    if (isTyped) return refused({ values: typedFields(form), errors: {}, message: detail }, status);
    context.get(sessionContext).flash({ type: "error", title: Object.values(wrong)[0] ?? detail, duration: 0 });
  }
  return redirect(back, 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

const refused = (result: FormResult, status: number) => data(result, status);

async function findCall(context: Context, { messageId, n }: { messageId: string; n: string }) {
  const reply = await read(context.get(apiContext).api.message[":id"].$get({ param: { id: messageId } }));
  const found = reply.parts.find((part) => part.n === Number(n));
  return { reply, part: found?.kind === "tool" ? found : undefined };
}

export default function Decision({ loaderData: { decision, words, back }, actionData }: Route.ComponentProps) {
  return (
    <DashboardPage width="column" up={[back, "La conversación"]}>
      <h1>Decidir sobre una llamada</h1>
      <p className="text-text-2">{words}</p>
      {actionData?.message && (
        <p className="error" role="alert">
          {actionData.message}
        </p>
      )}
      <DecisionForm decision={decision} values={actionData?.values ?? {}} errors={actionData?.errors ?? {}} />
    </DashboardPage>
  );
}
