import { replace } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { FormDialog } from "../../../ui/overlays/form-dialog.tsx";
import { accepted } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { zoneOfPerson } from "../../../web/house.server.ts";
import type { Route } from "./+types/create-schedule";
import { ScheduleFields } from "./schedule-fields.tsx";
import { scheduleChoices, sendSchedule } from "./schedule-form.server.ts";

export const meta = titled("Programar una pregunta");
export const handle = { dialog: true };

export const loader = async ({ context, request }: Route.LoaderArgs) => ({
  ...(await scheduleChoices(context)),
  // If the browser tells no zone, the field stays visible: a question must not run at the hours of Greenwich unnoticed.
  zone: (await zoneOfPerson(context, request)) === "UTC" ? "" : await zoneOfPerson(context, request),
});

export const action = ({ context }: Route.ActionArgs) =>
  sendSchedule(context, async (json) => {
    await accepted(context.get(apiContext).api.schedule.$post({ json }));
    return replace("/conversation/schedule", 303);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function CreateSchedule({ loaderData, actionData }: Route.ComponentProps) {
  return (
    <FormDialog title="Programar una pregunta" closeTo="/conversation/schedule" preventScrollReset>
      <ScheduleFields {...loaderData} result={actionData ?? undefined} />
    </FormDialog>
  );
}
