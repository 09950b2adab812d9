import { replace } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { FormDialog } from "../../../ui/overlays/form-dialog.tsx";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import type { Route } from "./+types/edit-schedule";
import { ScheduleFields } from "./schedule-fields.tsx";
import { scheduleChoices, sendSchedule } from "./schedule-form.server.ts";

export const meta = titled("Editar pregunta programada");
export const handle = { dialog: true };

export async function loader({ context, params: { id } }: Route.LoaderArgs) {
  const [schedule, choices] = await Promise.all([
    read(context.get(apiContext).api.schedule[":id"].$get({ param: { id } })),
    scheduleChoices(context),
  ]);
  return { schedule, zone: schedule.zone, ...choices };
}

export const action = ({ context, params: { id } }: Route.ActionArgs) =>
  sendSchedule(context, async (json) => {
    await accepted(context.get(apiContext).api.schedule[":id"].$put({ param: { id }, json }));
    return replace("/conversation/schedule", 303);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function EditSchedule({ loaderData, actionData }: Route.ComponentProps) {
  return (
    <FormDialog title="Editar pregunta programada" closeTo="/conversation/schedule" preventScrollReset>
      <ScheduleFields {...loaderData} result={actionData ?? undefined} />
    </FormDialog>
  );
}
