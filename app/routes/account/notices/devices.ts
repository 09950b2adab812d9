import { data, redirect } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { accepted, read, tellRefusal } from "../../../web/api-result.server.ts";
import { apiContext, type Context, formContext, sessionContext } from "../../../web/context.ts";
import { textOf } from "../../../web/forms/form.server.ts";
import type { Route } from "./+types/devices";

/** Turns notices of replies on or off in the browser of this session, or off on all devices of the person. */
export async function action({ context }: Route.ActionArgs) {
  const intent = textOf(context.get(formContext), "intent");
  if (intent === "renew") return renew(context);
  try {
    const title = await change(context, intent);
    context.get(sessionContext).flash({ type: "success", title });
  } catch (error) {
    tellRefusal(context)(error);
  }
  return redirect("/user/avisos", 303);
}

/** The service worker says that the browser's push address has changed (`public/sw.js`). Nobody sees the answer. */
async function renew(context: Context): Promise<Response> {
  const { device } = context.get(apiContext).api;
  // The browser may still have a subscription that was ended from elsewhere.
  const { here } = await read(device.$get());
  if (here) await accepted(device.$post({ json: subscriptionIn(context) }));
  return new Response(null, { status: 204 });
}

function subscriptionIn(context: Context) {
  const form = context.get(formContext);
  const [endpoint, p256dh, auth] = ["endpoint", "p256dh", "auth"].map((name) => textOf(form, name));
  if (!endpoint || !p256dh || !auth) throw data(null, 400);
  return { endpoint, keys: { p256dh, auth } };
}

async function change(context: Context, intent: string): Promise<string> {
  const { device } = context.get(apiContext).api;
  if (intent === "here") {
    await accepted(device.$post({ json: subscriptionIn(context) }));
    return "En este dispositivo se avisará de tus respuestas.";
  }
  if (intent === "end-here") {
    await accepted(device.here.$delete());
    return "En este dispositivo no se avisa más.";
  }
  if (intent !== "end") throw data(null, 400);
  await accepted(device.$delete());
  return "No se avisa en ningún dispositivo.";
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export const loader = () => redirect("/user/avisos");
