import { data, redirectDocument, replace } from "react-router";
import { z } from "zod";
import { SelectField } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { FormDialog } from "../../../ui/overlays/form-dialog.tsx";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import { listModels } from "../models.server.ts";
import { firstChunk } from "../stream/chunks.server.ts";
import type { Route } from "./+types/regenerate";

export const meta = titled("Regenerar con otro modelo");
export const handle = { dialog: true };

export async function loader({ context, params }: Route.LoaderArgs) {
  const { api } = context.get(apiContext);
  const [reply, models] = await Promise.all([
    read(api.message[":id"].$get({ param: { id: params.messageId } })),
    listModels(context),
  ]);
  // Another model is offered first: this dialog is there to change the model.
  return { models, modelId: models.find(({ id }) => id !== reply.modelId)?.id ?? reply.modelId };
}

const fields = z.object({ modelId: z.string().optional(), otherId: z.string().optional() });

export const action = ({ context, params: { id, messageId } }: Route.ActionArgs) =>
  sendFields(context, fields, async ({ modelId, otherId }) => {
    const { api } = context.get(apiContext);
    const { parentId } = await read(api.message[":id"].$get({ param: { id: messageId } }));
    // A message that answers nothing can't be answered again; no link leads here from it.
    if (!parentId) throw data(null, 404);
    if (modelId && otherId) {
      const json = { parentId, modelIds: [modelId, otherId] };
      await accepted(api.chat[":id"].compared.$post({ param: { id }, json }));
      return redirectDocument(`/conversation/chat/${id}/comparar/${parentId}`, 303);
    }
    const json = { parentId, ...(modelId && { modelId }) };
    await firstChunk(api.intelligence.conversation.$post({ json }));
    return replace(`/conversation/chat/${id}`, 303);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function Regenerate({ loaderData: { models, modelId }, actionData, params }: Route.ComponentProps) {
  const closeTo = `/conversation/chat/${params.id}`;
  return (
    <FormDialog title="Regenerar con otro modelo" closeTo={closeTo} submit="Regenerar">
      <Fields id="regenerar" result={actionData ?? undefined}>
        <SelectField
          name="modelId"
          label="Modelo"
          hint="La respuesta de ahora se queda como una versión."
          choices={models}
          defaultValue={modelId ?? undefined}
        />
        {models.length > 2 && (
          <SelectField
            name="otherId"
            label="Y para comparar"
            hint="Contesta después, y las respuestas se ven juntas."
            choices={[{ id: "", name: "Ninguno más" }, ...models]}
          />
        )}
      </Fields>
    </FormDialog>
  );
}
