import { redirect, useSearchParams } from "react-router";
import { z } from "zod";
import { renderedText } from "../../../markdown/rendered.server.ts";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { Leaf } from "../../../ui/leaf.tsx";
import { named } from "../../../ui/navigation/page-title.ts";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import { DeletionButtons } from "../deletion-buttons.tsx";
import type { Route } from "./+types/skill";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta: Route.MetaFunction = ({ loaderData, matches }) => named(matches, loaderData?.skill.name ?? "Oficio");

export async function loader({ context, params: { id }, url }: Route.LoaderArgs) {
  const one = context.get(apiContext).api.skill[":id"];
  const fileId = url.searchParams.get("archivo");
  const [skill, { items: files }, opened, { user }] = await Promise.all([
    read(one.$get({ param: { id } })),
    read(one.files.$get({ param: { id } })),
    fileId ? read(one.files[":fileId"].$get({ param: { id, fileId } })) : undefined,
    requireUser(context),
  ]);
  const key = `skill:${id}:${skill.version}`;
  return { skill, files, opened, html: await renderedText(key, skill.content, { docId: id }, user.id) };
}

const fields = z.object({ does: z.literal("delete") });

export const action = ({ context, params: { id } }: Route.ActionArgs) =>
  sendFields(context, fields, async () => {
    await accepted(context.get(apiContext).api.skill[":id"].$delete({ param: { id } }));
    return redirect("/conversation/oficio", 303);
  });

/** A skill: its purpose, its instructions and the texts that come with it. */
export default function Skill({ loaderData: { skill, files, opened, html }, actionData }: Route.ComponentProps) {
  const { id, name, description, shared, version, mayChange } = skill;
  const [search] = useSearchParams();
  const at = `/conversation/oficio/${id}`;
  return (
    <Leaf back={["/conversation/oficio", "Volver a los oficios"]} title={name}>
      <p className="mt-3">{description}</p>
      <p className="mt-2 text-text-2">{`Versión ${version}.${shared ? " Lo usan todos." : ""}`}</p>
      {actionData?.message && <p className="error">{actionData.message}</p>}
      {mayChange && (
        <PostForm className="mt-4" action={at}>
          <div className="buttons">
            <a className="button primary" href={`${at}/editar`}>
              Editar
            </a>{" "}
            <DeletionButtons asked={search.has("eliminar")} at={at} words="Eliminar el oficio y sus archivos" />
          </div>
        </PostForm>
      )}
      {/* Safe: made by our own renderer, with raw HTML off. */}
      <div className="prose mt-6" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />
      {files.length > 0 && (
        <>
          <h2 className="mt-8">Archivos</h2>
          <ul className="points mt-3">
            {files.map((file) => (
              <li key={file.id}>
                <a href={`${at}?archivo=${file.id}#archivo`}>{file.path}</a>
              </li>
            ))}
          </ul>
        </>
      )}
      {opened && (
        <section id="archivo" className="mt-6">
          <h2 className="break-words">{opened.path}</h2>
          <pre className="mt-3 whitespace-pre-wrap break-words">{opened.text}</pre>
        </section>
      )}
    </Leaf>
  );
}
