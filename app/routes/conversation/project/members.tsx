import { data, redirect } from "react-router";
import { z } from "zod";
import { Field, SelectField } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { Dialog, DialogFoot } from "../../../ui/overlays/dialog.tsx";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext, formContext, sessionContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { type FormResult, sendFields, textOf } from "../../../web/forms/form.server.ts";
import type { Route } from "./+types/members";
import { roles } from "./roles.ts";

export const meta = titled("Miembros del proyecto");
export const handle = { dialog: true };

export async function loader({ context, params: { id } }: Route.LoaderArgs) {
  const { user } = await requireUser(context);
  const { items } = await read(context.get(apiContext).api.project[":id"].members.$get({ param: { id } }));
  const isOwner = items.some(({ userId, role }) => userId === user.id && role === "owner");
  return {
    adds: isOwner,
    owns: isOwner || user.role === "admin",
    leaves: items.some(({ userId, role }) => userId === user.id && role !== "owner"),
    userId: user.id,
    members: items.filter(({ role }) => role !== "owner"),
  };
}

const fields = z.object({ email: z.string().default(""), role: z.enum(["reads", "writes"]).default("writes") });

export async function action({ context, params: { id } }: Route.ActionArgs) {
  const { members, owner } = context.get(apiContext).api.project[":id"];
  const form = context.get(formContext);
  const session = context.get(sessionContext);
  const [intent, userId] = [textOf(form, "intent"), textOf(form, "userId")];
  if (!intent) {
    return sendFields(context, fields, async (json) => {
      await accepted(members.$post({ param: { id }, json }));
      return data(null);
    });
  }
  return sendFields(context, z.object({}), async () => {
    if (intent === "give") {
      await accepted(owner.$put({ param: { id }, json: { userId } }));
      session.flash({ type: "success", title: "El proyecto es ahora de esa persona." });
      return redirect(`/conversation/project/${id}`, 303);
    }
    await accepted(members[":userId"].$delete({ param: { id, userId } }));
    if (intent !== "leave") return data(null);
    session.flash({ type: "success", title: "Ya no estás en el proyecto." });
    return redirect("/conversation/project", 303);
  });
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

const choices = [
  { id: "writes", name: roles.writes },
  { id: "reads", name: roles.reads },
];

export default function Members({ loaderData, actionData, params }: Route.ComponentProps) {
  const { adds, owns, leaves, userId, members } = loaderData;
  const result: FormResult | undefined = actionData ?? undefined;
  return (
    <Dialog title="Miembros del proyecto" closeTo={`/conversation/project/${params.id}`}>
      <div className="body fields">
        {owns && members.length > 0 && (
          <ul className="rows">
            {members.map((member) => (
              <Member key={member.userId} {...member} />
            ))}
          </ul>
        )}
        {adds && (
          <PostForm className="contents" id="anadir" preventScrollReset key={members.length}>
            <Fields id="miembro" result={result}>
              <Field name="email" label="Correo de quien añades" type="email" required />
              <SelectField
                name="role"
                label="Qué puede"
                hint="Ve las conversaciones y los documentos. Quien puede escribir empieza aquí las suyas y añade documentos."
                choices={choices}
              />
            </Fields>
          </PostForm>
        )}
        {leaves && <p>Al salir, tus conversaciones y documentos salen del proyecto contigo y siguen siendo tuyos.</p>}
        {owns && !adds && <p>Solo quien tiene el proyecto añade a otras personas.</p>}
        {!adds && result?.message && <p className="error">{result.message}</p>}
      </div>
      <DialogFoot cancelTo={`/conversation/project/${params.id}`} word="Cerrar">
        {leaves && (
          <PostForm>
            <input type="hidden" name="userId" value={userId} />
            <button type="submit" className="button danger" name="intent" value="leave">
              Salir del proyecto
            </button>
          </PostForm>
        )}{" "}
        {adds && (
          <button type="submit" form="anadir" className="button primary">
            Añadir
          </button>
        )}
      </DialogFoot>
    </Dialog>
  );
}

type MemberProps = { userId: string; name: string; email: string; role: keyof typeof roles };

function Member({ userId, name, email, role }: MemberProps) {
  return (
    <li className="row stacked">
      <div className="break-words">
        <p className="title">{name}</p>
        <p className="line">{email}</p>
        <p className="line">{roles[role]}</p>
      </div>{" "}
      <PostForm className="end" preventScrollReset>
        <input type="hidden" name="userId" value={userId} />
        <button type="submit" className="action" name="intent" value="give">
          Darle el proyecto<span className="sr-only"> a {name}</span>
        </button>{" "}
        <button type="submit" className="action" name="intent" value="remove">
          Quitar<span className="sr-only"> a {name}</span>
        </button>
      </PostForm>
    </li>
  );
}
