import type { InferRequestType } from "hono/client";
import { data } from "react-router";
import { z } from "zod";
import type { Client } from "../../../web/api-client.server.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext, type Context, formContext } from "../../../web/context.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import { spokenTo } from "../composer/spoken-to.ts";
import { placeNames, placesOf } from "../errand/errand-words.ts";
import { listModels } from "../models.server.ts";

const fields = z.object({
  content: z.string().default(""),
  spokenTo: z.string().optional(),
  monthDay: z.string().optional(),
  time: z.string().default(""),
  zone: z.string().default(""),
  looksIn: z.enum(["", ...placeNames]).default(""),
  tells: z.string().optional(),
  enabled: z.string().optional(),
});

/** Choices beside the fields themselves: receivers of the question, and whether the person can be told. */
export async function scheduleChoices(context: Context) {
  const [models, { count, mails }] = await Promise.all([
    listModels(context),
    read(context.get(apiContext).api.device.$get()),
  ]);
  return { models: models.map(({ id, name }) => ({ id, name })), tells: mails || count > 0 };
}

type Sent = InferRequestType<Client["api"]["schedule"][":id"]["$put"]>["json"];

/** Sends the form to the API by `send`; after a refusal, the form is shown again, with the days that were marked. */
export async function sendSchedule(context: Context, send: (json: Sent) => Promise<Response>) {
  const days = context
    .get(formContext)
    .getAll("days")
    .map(Number)
    .filter((day) => Number.isInteger(day));
  const result = await sendFields(
    context,
    fields,
    ({ monthDay, tells, enabled, looksIn, spokenTo: chosen, ...given }) =>
      send({
        ...given,
        modelId: null,
        assistantId: null,
        ...spokenTo(chosen),
        days,
        monthDay: monthDay ? Number(monthDay) : null,
        looksIn: looksIn === "" ? null : placesOf(looksIn),
        tells: tells === "1",
        enabled: enabled === "1",
      }),
  );
  if (result instanceof Response) return result;
  return data({ ...result.data, days }, result.init ?? {});
}
