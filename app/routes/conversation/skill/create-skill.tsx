import { redirect } from "react-router";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { Leaf } from "../../../ui/leaf.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import type { Route } from "./+types/create-skill";
import { SkillFields } from "./skill-fields.tsx";
import { groupsIn, sharingChoices, skillForm } from "./skill-form.server.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta = titled("Escribir un oficio");

export const loader = async ({ context }: Route.LoaderArgs) => ({ sharing: await sharingChoices(context) });

export const action = ({ context }: Route.ActionArgs) =>
  sendFields(context, skillForm, async (given) => {
    const json = { ...given, groupIds: groupsIn(context) };
    const { id } = await read(context.get(apiContext).api.skill.$post({ json }));
    return redirect(`/conversation/oficio/${id}`, 303);
  });

export default function CreateSkill({ loaderData: { sharing }, actionData }: Route.ComponentProps) {
  return (
    <Leaf back={["/conversation/oficio", "Volver a los oficios"]} title="Escribir un oficio">
      <PostForm className="fields mt-5">
        <SkillFields sharing={sharing} result={actionData ?? undefined} />
        <div className="buttons">
          <button type="submit" className="button primary">
            Guardar
          </button>
        </div>
      </PostForm>
    </Leaf>
  );
}
