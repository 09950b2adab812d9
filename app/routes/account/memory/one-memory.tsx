import { data, redirect } from "react-router";
import { z } from "zod";
import { limits } from "../../../process/limits.ts";
import { Field } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { Leaf } from "../../../ui/leaf.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext, formContext } from "../../../web/context.ts";
import { sendFields, textOf } from "../../../web/forms/form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import type { Route } from "./+types/one-memory";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta = titled("Cambiar una frase");

export async function loader({ context, params: { id } }: Route.LoaderArgs) {
  const { items } = await read(context.get(apiContext).api.memory.$get());
  const memory = items.find((one) => one.id === id);
  if (!memory) throw data(null, 404);
  return { text: memory.text, updatedAt: memory.updatedAt };
}

const fields = z.object({ does: z.enum(["save", "delete"]), text: z.string().default("") });

export const action = ({ context, params: { id } }: Route.ActionArgs) => {
  const form = context.get(formContext);
  return sendFields(context, fields, async ({ does, text }) => {
    const one = context.get(apiContext).api.memory[":id"];
    const options = { headers: { "If-Match": `"${textOf(form, "version")}"` } };
    if (does === "delete") await accepted(one.$delete({ param: { id } }));
    else await accepted(one.$patch({ param: { id }, json: { text } }, options));
    return redirect("/user/memoria", 303);
  });
};

/** A sentence that is remembered, to be changed or taken away. */
export default function OneMemory({ loaderData: { text, updatedAt }, actionData }: Route.ComponentProps) {
  return (
    <Leaf back={["/user/memoria", "Volver sin guardar"]} title="Cambiar una frase">
      <PostForm className="fields mt-6">
        <input type="hidden" name="version" value={updatedAt} />
        <Fields id="frase" result={actionData ?? undefined}>
          <Field name="text" label="Frase" defaultValue={text} maxLength={limits.memory} />
        </Fields>
        <div className="buttons">
          <button type="submit" className="button primary" name="does" value="save">
            Guardar
          </button>{" "}
          <button type="submit" className="button" name="does" value="delete">
            Eliminar
          </button>
        </div>
      </PostForm>
    </Leaf>
  );
}
