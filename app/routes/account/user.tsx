import type { ReactNode } from "react";
import { Link, redirect, useOutlet } from "react-router";
import { z } from "zod";
import { zoneOf } from "../../process/time-zones.server.ts";
import { Callout } from "../../ui/callout.tsx";
import { DashboardPage } from "../../ui/dashboard-page.tsx";
import { sendForm } from "../../ui/forms/send-form.ts";
import { Icon } from "../../ui/icon.tsx";
import { showSeen } from "../../ui/navigation/pages-seen.ts";
import { BehindDialog } from "../../ui/overlays/behind-dialog.tsx";
import { barPlot } from "../../ui/plot.server.ts";
import { ago } from "../../ui/times.ts";
import { accepted, read } from "../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../web/context.ts";
import { requireUser } from "../../web/current-user.server.ts";
import { sendFields } from "../../web/forms/form.server.ts";
import { showUse } from "../../web/plan-use-in-words.server.ts";
import type { Route } from "./+types/user";
import { deviceOf } from "./device.server.ts";
import { inspectionsInWords } from "./inspections.server.ts";
import { Inspections } from "./inspections.tsx";
import { mayUse } from "./may-use.server.ts";
import { MayUse } from "./may-use.tsx";
import { ReplyNews } from "./notices/reply-news.tsx";
import { Profile } from "./profile.tsx";
import { ApiKeys } from "./security/api-keys.tsx";
import { Authenticator } from "./security/authenticator.tsx";
import { Passkeys } from "./security/passkeys.tsx";
import { Sessions } from "./security/sessions-list.tsx";
import { Use } from "./use.tsx";

export const meta: Route.MetaFunction = () => [{ title: "Tu cuenta · Tertulia" }];

// At a time; the rest are behind a link.
const inspectionsShown = "10";

export async function loader({ context, request, url }: Route.LoaderArgs) {
  const { api, auth } = context.get(apiContext);
  const person = await requireUser(context);
  const { user, owesTerms } = person;
  const older = url.searchParams.get("lecturas");
  // To anyone else the API answers 403.
  const mayDo = user.status === "active" && !owesTerms;
  const [{ days }, { items }, inspected, authenticator, passkeys, options, keys, listed, feed, devices] =
    await Promise.all([
      read(api.usage.$get({ query: {} })),
      read(auth.sessions.$get()),
      read(api.inspection.$get({ query: { limit: inspectionsShown, ...(older && { cursor: older }) } })),
      read(auth.authenticator.$get()),
      read(auth.passkey.$get()),
      read(auth.options.$get()),
      mayDo ? read(api.key.$get()) : undefined,
      mayDo ? mayUse(context, person) : undefined,
      mayDo ? read(api.feed.$get()) : undefined,
      mayDo ? read(api.device.$get()) : undefined,
    ]);
  const now = Date.now();
  return {
    user: { name: user.name, email: user.email, status: user.status, hasPassword: user.hasPassword },
    mayHavePassword: user.hasPassword || options.password,
    use: showUse(person, now, zoneOf(request)),
    plot: barPlot(days.map(({ day, messages }) => ({ day, values: [messages] }))),
    sessions: items.map((session) => ({ ...deviceOf(session, now), id: session.id, current: session.current })),
    inspections: inspectionsInWords(inspected, zoneOf(request)),
    authenticator,
    passkeys: passkeys.items.map(({ id, name, lastUsedAt }) => ({
      id,
      name,
      used: lastUsedAt ? `usada ${ago(lastUsedAt, now)}` : "sin usar",
    })),
    listed,
    news: devices && {
      feed: feed?.token ? `${url.origin}/canal/${feed.token}` : undefined,
      mails: devices.mails,
      devices: { deviceKey: devices.key, count: devices.count, here: devices.here },
    },
    keys: keys?.items.map(({ id, name, start, scope, lastUsedAt }) => ({
      id,
      name,
      start,
      scope: scope === "write" ? "lee y escribe" : "solo lee",
      used: lastUsedAt ? `usada ${ago(lastUsedAt, now)}` : "sin usar",
    })),
  };
}

const fields = z.object({
  name: z.string().default(""),
  email: z.string().default(""),
  currentPassword: z.string().optional(),
});

export const action = ({ context }: Route.ActionArgs) =>
  sendFields(context, fields, async (json) => {
    const { user } = await requireUser(context);
    await accepted(context.get(apiContext).api.user[":id"].$patch({ param: { id: user.id }, json }));
    context.get(sessionContext).flash({ type: "success", title: "Perfil guardado." });
    return redirect("/user", 303);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);
export const clientLoader = (args: Route.ClientLoaderArgs) => showSeen(args);

export default function User({ loaderData, actionData }: Route.ComponentProps) {
  const { user, mayHavePassword, use, plot, sessions, inspections, listed, news } = loaderData;
  const dialog = useOutlet();
  return (
    <BehindDialog dialog={dialog}>
      <DashboardPage width="sheet">
        {user.status === "inactive" && (
          <div className="mb-6">
            <Callout type="warning">
              <p>
                Tu cuenta está inactiva. <Link to="/soporte">Escríbenos a soporte</Link> para reactivarla.
              </p>
            </Callout>
          </div>
        )}
        <h1>Tu cuenta</h1>
        {user.status === "active" && (
          <p className="mt-4">
            <Link className="button primary" to="/conversation/chat">
              <Icon name="plus" />
              Empezar una conversación
            </Link>
          </p>
        )}
        <Section id="perfil" title="Perfil">
          <Profile
            key={user.email + user.name}
            user={user}
            mayHavePassword={mayHavePassword}
            result={actionData ?? undefined}
          />
        </Section>
        <Section id="uso" title="Plan y uso">
          <Use use={use} plot={plot} />
        </Section>
        {listed && (
          <Section id="permitido" title="Qué puedes usar">
            <MayUse listed={listed} />
          </Section>
        )}
        {news && (
          <Section id="avisos" title="Respuestas que esperas">
            <ReplyNews {...news} />
          </Section>
        )}
        <Section id="sesiones" title="Sesiones abiertas">
          <Sessions sessions={sessions} />
        </Section>
        <Section id="lecturas" title="Quién ha leído lo tuyo">
          <Inspections {...inspections} />
        </Section>
        <WaysIn {...loaderData} />
        <ThisBrowser />
        <Data />
      </DashboardPage>
    </BehindDialog>
  );
}

/** A part of the page that links can name. */
function Section({ id, title, children }: { id: string; title: string; children: ReactNode }) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

/** Second step, passkeys and keys of programs. */
function WaysIn({ user, mayHavePassword, authenticator, passkeys, keys }: Route.ComponentProps["loaderData"]) {
  return (
    <>
      {user.hasPassword && (
        <Section id="pasos" title="Verificación en dos pasos">
          <Authenticator {...authenticator} />
        </Section>
      )}
      {mayHavePassword && (
        <Section id="llaves" title="Llaves de acceso">
          <Passkeys passkeys={passkeys} />
        </Section>
      )}
      {keys && (
        <Section id="claves" title="Claves para programas">
          <ApiKeys keys={keys} />
        </Section>
      )}
    </>
  );
}

/** Settings of this browser alone. */
function ThisBrowser() {
  return (
    <section aria-labelledby="sin-conexion">
      <h2 id="sin-conexion">Sin conexión</h2>
      <p className="text-text-2">
        Con JavaScript, lo que lees se guarda una semana en este navegador para leerlo sin conexión, y lo que escribes
        sin ella se envía cuando vuelve. Se borra al cerrar la sesión.{" "}
        <a href="/sin-conexion">Lo guardado y lo pendiente</a>
      </p>
    </section>
  );
}

function Data() {
  return (
    <section aria-labelledby="datos">
      <h2 id="datos">Tus datos</h2>
      <div className="stack">
        <p className="text-text-2">
          La descarga trae tus conversaciones en Markdown y JSON, y tus archivos. Al eliminar la cuenta se borra todo y
          no se puede deshacer.
        </p>
        <div className="buttons">
          <Link className="button" to="/user/datos">
            Descargar mis datos
          </Link>{" "}
          <Link className="button danger" to="/user/eliminar" preventScrollReset>
            Eliminar mi cuenta
          </Link>
        </div>
      </div>
    </section>
  );
}
