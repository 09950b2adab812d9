import { Link } from "react-router";
import { currentPerson } from "../../guards.server.ts";
import { Bar } from "../../ui/bar.tsx";
import { Notice } from "../../ui/notice.tsx";
import { PostForm } from "../../ui/post-form.tsx";
import type { Route } from "./+types/user";

export const meta: Route.MetaFunction = () => [{ title: "Tu cuenta · Tertulia" }];

export async function loader({ context }: Route.LoaderArgs) {
  const { user, usage, subscription } = await currentPerson(context);
  return { user, usage, subscription };
}

const number = new Intl.NumberFormat("es");

export default function User({ loaderData: { user, usage, subscription } }: Route.ComponentProps) {
  return (
    <>
      <Bar>
        <p className="where">Tu cuenta</p>
      </Bar>
      <main className="page" id="contenido">
        <div className="in column">
          {user.status === "inactive" && (
            <div className="mb-6">
              <Notice type="warning">
                <p>Tu cuenta está inactiva. Escríbenos a soporte para reactivarla.</p>
              </Notice>
            </div>
          )}
          <h1>{user.name}</h1>
          <p className="mt-1 text-text-2">{user.email}</p>
          {user.status === "active" && (
            <p className="mt-6">
              <Link className="button primary" to="/conversation/chat">
                Nueva conversación
              </Link>
            </p>
          )}
          <section aria-labelledby="uso">
            <h2 id="uso">Tu uso</h2>
            <dl className="mt-4 grid max-w-md grid-cols-[1fr_auto] gap-x-6 gap-y-2 tabular-nums">
              <dt className="text-text-2">Mensajes de hoy</dt>
              <dd className="text-end">{ofLimit(usage.messagesToday, subscription.messagesPerDay)}</dd>
              <dt className="text-text-2">Tokens de este mes</dt>
              <dd className="text-end">{ofLimit(usage.tokensThisMonth, subscription.tokensPerMonth)}</dd>
            </dl>
          </section>
          <section aria-labelledby="sesion">
            <h2 id="sesion">Sesión</h2>
            <PostForm action="/auth/signout" reloadDocument className="mt-4">
              <button type="submit" className="button">
                Cerrar sesión
              </button>
            </PostForm>
          </section>
        </div>
      </main>
    </>
  );
}

function ofLimit(used: number, limit: number | null): string {
  return limit === null ? number.format(used) : `${number.format(used)} de ${number.format(limit)}`;
}
