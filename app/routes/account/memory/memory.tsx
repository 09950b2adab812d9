import { redirect } from "react-router";
import { z } from "zod";
import { limits } from "../../../process/limits.ts";
import { dayInWords } from "../../../process/time-zones.server.ts";
import { Callout } from "../../../ui/callout.tsx";
import { Field, SelectField } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { Leaf } from "../../../ui/leaf.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import { zoneOfPerson } from "../../../web/house.server.ts";
import type { Route } from "./+types/memory";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta = titled("Memoria");

export async function loader({ context, request }: Route.LoaderArgs) {
  const { api } = context.get(apiContext);
  const { user } = await requireUser(context);
  const limit = String(limits.listMax);
  const [memory, own, seen] = await Promise.all([
    read(api.memory.$get()),
    read(api.project.$get({ query: { filter: JSON.stringify({ userId: user.id }), limit } })),
    read(api.project.$get({ query: { limit } })),
  ]);
  const zone = await zoneOfPerson(context, request);
  const nameOf = (id: string) => [...own.items, ...seen.items].find((one) => one.id === id)?.name;
  return {
    ...memory,
    items: memory.items.map(({ id, text, projectId, chatId, createdAt }) => ({
      ...{ id, text, chatId, project: projectId === null ? undefined : (nameOf(projectId) ?? "otro proyecto") },
      when: dayInWords(createdAt, zone),
    })),
    projects: own.items.map(({ id, name }) => ({ id, name })),
  };
}

const fields = z.object({
  does: z.enum(["on", "off", "add"]),
  text: z.string().default(""),
  projectId: z.string().default(""),
});

export const action = ({ context }: Route.ActionArgs) =>
  sendFields(context, fields, async ({ does, text, projectId }) => {
    const { memory } = context.get(apiContext).api;
    if (does === "add") await accepted(memory.$post({ json: { text, projectId: projectId || null } }));
    else await accepted(memory.choice.$put({ json: { on: does === "on" } }));
    return redirect("/user/memoria", 303);
  });

/** Sentences about a person for models, and whether models are given them. */
export default function Memory({ loaderData, actionData }: Route.ComponentProps) {
  const { on, available, items, projects } = loaderData;
  return (
    <Leaf back={["/user", "Volver a tu cuenta"]} title="Memoria">
      <p className="mt-3 text-text-2">
        Frases sobre ti que los modelos reciben en todas tus conversaciones, o en las de un proyecto. Las escribes tú, o
        las propone un modelo y tú dices que sí. En las conversaciones temporales ni se leen ni se guardan, y en «Qué se
        envió al modelo» se ve cuáles recibió.
      </p>
      {!available && (
        <Callout type="info">
          <p>Quien administra no permite la memoria. Lo que hay aquí no lo recibe nadie.</p>
        </Callout>
      )}
      <PostForm className="mt-6">
        <p role="status">{on ? "Está encendida." : "Está apagada: nadie recibe estas frases ni propone otras."}</p>
        <p className="buttons mt-3">
          <button type="submit" className={on ? "button" : "button primary"} name="does" value={on ? "off" : "on"}>
            {on ? "Apagar" : "Encender"}
          </button>
        </p>
      </PostForm>
      <Sentences items={items} />
      <h2 className="mt-8">Añadir una frase</h2>
      <PostForm className="fields mt-4">
        <Fields id="memoria" result={actionData ?? undefined}>
          <Field
            name="text"
            label="Frase"
            hint="Como «Trabaja en el padrón de Lugo»."
            required
            maxLength={limits.memory}
          />
          {projects.length > 0 && (
            <SelectField
              name="projectId"
              label="Dónde"
              choices={[{ id: "", name: "En todas mis conversaciones" }, ...projects]}
            />
          )}
        </Fields>
        <div className="buttons">
          <button type="submit" className="button" name="does" value="add">
            Añadir
          </button>
        </div>
      </PostForm>
    </Leaf>
  );
}

function Sentences({ items }: Pick<Route.ComponentProps["loaderData"], "items">) {
  if (items.length === 0) return <p className="mt-6">Aún no hay ninguna.</p>;
  return (
    <>
      <ul className="rows mt-6">
        {items.map(({ id, text, project, chatId, when }) => (
          <li key={id} className="row">
            <div className="break-words">
              <p className="title">{text}</p>
              <p className="line">
                {when} · {project ? `solo en «${project}» · ` : ""}
                {chatId && (
                  <>
                    <a href={`/conversation/chat/${chatId}`}>de una conversación</a> ·{" "}
                  </>
                )}
                <a href={`/user/memoria/${id}`}>
                  Cambiar o eliminar<span className="sr-only"> «{text.slice(0, 60)}»</span>
                </a>
              </p>
            </div>
          </li>
        ))}
      </ul>
      <p className="mt-3">
        <a href="/user/memoria/descargar">Descargar todas</a>
      </p>
    </>
  );
}
