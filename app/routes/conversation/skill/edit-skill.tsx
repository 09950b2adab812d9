import { data, redirect } from "react-router";
import { z } from "zod";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { Leaf } from "../../../ui/leaf.tsx";
import { named } from "../../../ui/navigation/page-title.ts";
import { ApiProblem, accepted, read } from "../../../web/api-result.server.ts";
import { apiContext, formContext } from "../../../web/context.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import { typedFields } from "../../../web/forms/unsent-form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import type { Route } from "./+types/edit-skill";
import { SkillFields } from "./skill-fields.tsx";
import { groupsIn, sharingChoices, skillForm } from "./skill-form.server.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta: Route.MetaFunction = ({ loaderData, matches }) =>
  named(matches, `Editar «${loaderData?.skill.name ?? "oficio"}»`);

export async function loader({ context, params: { id } }: Route.LoaderArgs) {
  const skill = await read(context.get(apiContext).api.skill[":id"].$get({ param: { id } }));
  if (!skill.mayChange) throw data(null, 404);
  return { skill, sharing: await sharingChoices(context, skill.groupIds) };
}

const editForm = skillForm.extend({ version: z.string().default("") });
/** The skill as it is now, which comes with the refusal of a change. */
const stored = z.object({ content: z.string(), updatedAt: z.string() });

export const action = ({ context, params: { id } }: Route.ActionArgs) =>
  sendFields(context, editForm, async ({ version, ...given }) => {
    const json = { ...given, groupIds: groupsIn(context) };
    const options = { headers: { "If-Match": `"${version}"` } };
    try {
      await accepted(context.get(apiContext).api.skill[":id"].$put({ param: { id }, json }, options));
    } catch (error) {
      const current = error instanceof ApiProblem ? stored.safeParse(error.body.current) : undefined;
      if (!current?.success) throw error;
      const values = { ...typedFields(context.get(formContext)), version: current.data.updatedAt };
      const message =
        "Ha cambiado mientras lo editabas. Más abajo está lo que hay guardado; al guardar se queda lo tuyo.";
      return data({ values, errors: {}, message, theirs: current.data.content }, 409);
    }
    return redirect(`/conversation/oficio/${id}`, 303);
  });

export default function EditSkill({
  loaderData: { skill, sharing },
  actionData,
  params: { id },
}: Route.ComponentProps) {
  const result = actionData ?? undefined;
  const theirs = result && "theirs" in result ? String(result.theirs) : undefined;
  return (
    <Leaf back={[`/conversation/oficio/${id}`, "Volver sin guardar"]} title={`Editar «${skill.name}»`}>
      <PostForm className="fields mt-5">
        <input type="hidden" name="version" value={result?.values.version ?? skill.updatedAt} />
        <SkillFields skill={skill} sharing={sharing} result={result} />
        <div className="buttons">
          <button type="submit" className="button primary">
            Guardar
          </button>
        </div>
      </PostForm>
      {theirs !== undefined && (
        <>
          <h2 className="mt-8">Lo que hay guardado</h2>
          <pre className="mt-3 whitespace-pre-wrap break-words">{theirs}</pre>
        </>
      )}
    </Leaf>
  );
}
