import { Link, useOutlet } from "react-router";
import { Callout } from "../../../ui/callout.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { ago } from "../../../ui/times.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { mayWork, requireUser } from "../../../web/current-user.server.ts";
import { zoneOfPerson } from "../../../web/house.server.ts";
import { AccountPage, Section } from "../account-page.tsx";
import { DriveAccounts } from "../connect/drive-accounts.tsx";
import { ToolAccounts } from "../connect/tool-accounts.tsx";
import type { Route } from "./+types/security";
import { ApiKeys } from "./api-keys.tsx";
import { Authenticator } from "./authenticator.tsx";
import { deviceOf } from "./device.server.ts";
import { inspectionsInWords } from "./inspections.server.ts";
import { Inspections } from "./inspections.tsx";
import { Passkeys } from "./passkeys.tsx";
import { Sessions } from "./sessions-list.tsx";

export const meta = titled("Seguridad");

// Reads shown at a time; older ones are behind a link.
const inspectionsShown = "10";

export async function loader({ context, request, url }: Route.LoaderArgs) {
  const { api, auth } = context.get(apiContext);
  const person = await requireUser(context);
  const { user, owesSecondStep } = person;
  const older = url.searchParams.get("lecturas");
  const [{ items }, inspected, authenticator, passkeys, options, keys, accounts, drives] = await Promise.all([
    read(auth.sessions.$get()),
    read(api.inspection.$get({ query: { limit: inspectionsShown, ...(older && { cursor: older }) } })),
    read(auth.authenticator.$get()),
    read(auth.passkey.$get()),
    read(auth.options.$get()),
    mayWork(person) ? read(api.key.$get()) : undefined,
    mayWork(person) ? read(api["tool-account"].$get()) : undefined,
    mayWork(person) ? read(api["drive-account"].$get()) : undefined,
  ]);
  const now = Date.now();
  const zone = await zoneOfPerson(context, request);
  return {
    owesSecondStep,
    hasPassword: user.hasPassword,
    mayHavePassword: user.hasPassword || options.password,
    sessions: items.map((session) => ({ ...deviceOf(session, now, zone), id: session.id, current: session.current })),
    inspections: inspectionsInWords(inspected, zone),
    authenticator,
    passkeys: passkeys.items.map(({ id, name, lastUsedAt }) => ({
      id,
      name,
      used: lastUsedAt ? `usada ${ago(lastUsedAt, now)}` : "sin usar",
    })),
    accounts: (accounts?.items ?? []).map(({ id, name, usable, connectedAt, problem }) => ({
      id,
      name,
      usable,
      connected: connectedAt ? ago(connectedAt, now) : undefined,
      problem,
    })),
    // File servers are connected in a project, where the folders are.
    drives: (drives?.items ?? [])
      .filter(({ username }) => username !== null)
      .map(({ id, name, username }) => ({ id, name, username })),
    keys: keys?.items.map(({ id, name, start, scope, lastUsedAt, connected }) => ({
      id,
      name,
      start: connected ? undefined : start,
      scope: scope === "write" ? "lee y escribe" : "solo lee",
      used: lastUsedAt ? `usada ${ago(lastUsedAt, now)}` : "sin usar",
    })),
  };
}

export default function Security({ loaderData }: Route.ComponentProps) {
  const { owesSecondStep, hasPassword, mayHavePassword, authenticator } = loaderData;
  const { sessions, inspections, passkeys, accounts, drives, keys } = loaderData;
  const dialog = useOutlet();
  return (
    <AccountPage dialog={dialog}>
      {owesSecondStep && !authenticator.enabled && (
        <div className="mt-6">
          <Callout type="warning">
            <p>
              Aquí hace falta la verificación en dos pasos. Actívala abajo para seguir o, si tienes una llave de acceso,
              sal y entra con ella. Lo que ya tienes sigue aquí.
            </p>
          </Callout>
        </div>
      )}
      {mayHavePassword && (
        <Section id="contrasena" title="Contraseña">
          <div>
            <Link className="button" to="/user/seguridad/contrasena" preventScrollReset>
              {hasPassword ? "Cambiar contraseña" : "Poner una contraseña"}
            </Link>
          </div>
        </Section>
      )}
      {(hasPassword || owesSecondStep) && (
        <Section id="pasos" title="Verificación en dos pasos">
          <Authenticator {...authenticator} />
        </Section>
      )}
      {mayHavePassword && (
        <Section id="llaves" title="Llaves de acceso">
          <Passkeys passkeys={passkeys} />
        </Section>
      )}
      <Section id="sesiones" title="Sesiones abiertas">
        <Sessions sessions={sessions} />
      </Section>
      <Section id="lecturas" title="Quién ha leído lo tuyo">
        <Inspections {...inspections} />
      </Section>
      {accounts.length + drives.length > 0 && (
        <Section id="cuentas" title="Cuentas conectadas">
          {accounts.length > 0 && <ToolAccounts accounts={accounts} />}
          {drives.length > 0 && <DriveAccounts accounts={drives} />}
        </Section>
      )}
      {keys && (
        <Section id="claves" title="Programas">
          <ApiKeys keys={keys} />
        </Section>
      )}
    </AccountPage>
  );
}
