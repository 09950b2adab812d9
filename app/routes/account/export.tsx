import { Link, redirect, useOutlet } from "react-router";
import { limits } from "../../process/limits.ts";
import { momentInWords } from "../../process/time-zones.server.ts";
import { Callout } from "../../ui/callout.tsx";
import { PostForm } from "../../ui/forms/post-form.tsx";
import { sendForm } from "../../ui/forms/send-form.ts";
import { titled } from "../../ui/navigation/page-title.ts";
import { accepted, read, tellRefusal } from "../../web/api-result.server.ts";
import { apiContext } from "../../web/context.ts";
import { requireUser } from "../../web/current-user.server.ts";
import { sizeInWords } from "../../web/file-display.server.ts";
import { sendToOwed } from "../../web/guards.server.ts";
import { zoneOfPerson } from "../../web/house.server.ts";
import type { Route } from "./+types/export";
import { AccountPage, Section } from "./account-page.tsx";

export const meta = titled("Tus datos");

type Now = { state: "underway"; percent?: number } | { state: "failed"; problem: string };

/** Progress of the newest export, and the one that is ready. A script is told of each step; without one, a link loads the page again. */
export async function loader({ context, request, url }: Route.LoaderArgs) {
  const { user, owesSecondStep } = await requireUser(context);
  sendToOwed({ owesTerms: false, owesSecondStep }, request, url);
  const { items } = await read(context.get(apiContext).api.user[":id"].exports.$get({ param: { id: user.id } }));
  const [last] = items;
  const done = items.find(({ state }) => state === "done");
  return {
    now: last && nowOf(last),
    ready: done && {
      ...inWords(done.result as { name: string; size: number }),
      href: `/user/datos/${done.id}`,
      until: momentInWords(
        Date.parse(done.updatedAt) + limits.endedJob,
        Date.now(),
        await zoneOfPerson(context, request),
      ),
    },
    importedAtMost: sizeInWords(limits.importFile),
  };
}

const inWords = ({ name, size }: { name: string; size: number }) => ({ name, size: sizeInWords(size) });

function nowOf(job: {
  state: string;
  problem: string | null;
  done: number | null;
  total: number | null;
}): Now | undefined {
  if (job.state === "done") return;
  if (job.state === "failed") return { state: "failed", problem: job.problem ?? "" };
  if (job.done === null || !job.total) return { state: "underway" };
  return { state: "underway", percent: Math.min(99, Math.floor((100 * job.done) / job.total)) };
}

/** Has a new export prepared. */
export async function action({ context }: Route.ActionArgs) {
  const { user } = await requireUser(context);
  const begun = accepted(context.get(apiContext).api.user[":id"].export.$post({ param: { id: user.id } }));
  await begun.catch(tellRefusal(context));
  return redirect("/user/datos", 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function Export({ loaderData: { now, ready, importedAtMost } }: Route.ComponentProps) {
  const dialog = useOutlet();
  return (
    <AccountPage dialog={dialog}>
      <Section id="descarga" title="Descargar mis datos">
        <div className="stack">
          <p>
            Un ZIP con tus conversaciones en Markdown y JSON, tus archivos como los subiste y los datos de tu cuenta.
            Otra instalación de Tertulia lo importa si ocupa {importedAtMost} como mucho.
          </p>
          {now?.state === "underway" && <Underway percent={now.percent} />}
          {now?.state === "failed" && (
            <Callout type="error">
              <p>No se han podido preparar tus datos: {now.problem}</p>
            </Callout>
          )}
          {ready && (
            <Callout type="success">
              <p>
                {ready.name} está listo: {ready.size}. Se borra del servidor {ready.until}. Si la descarga se corta,
                puedes seguirla donde se quedó.
              </p>
            </Callout>
          )}
          <div className="buttons mt-4">
            {ready && (
              <a className="button primary" href={ready.href} download>
                Descargar
              </a>
            )}{" "}
            {now?.state === "underway" ? (
              <Link className="button" to=".">
                Ver cómo va
              </Link>
            ) : (
              <PostForm>
                <button type="submit" className={ready ? "button" : "button primary"}>
                  {ready ? "Prepararlo otra vez" : "Preparar la descarga"}
                </button>
              </PostForm>
            )}
          </div>
        </div>
      </Section>
      <Section id="eliminar-cuenta" title="Eliminar mi cuenta">
        <div className="stack">
          <p className="text-text-2">Se borran tus conversaciones, tus archivos y tu uso. No se puede deshacer.</p>
          <div>
            <Link className="button danger" to="/user/datos/eliminar" preventScrollReset>
              Eliminar mi cuenta
            </Link>
          </div>
        </div>
      </Section>
    </AccountPage>
  );
}

function Underway({ percent }: { percent: number | undefined }) {
  return (
    <>
      <p role="status">
        {percent === undefined ? "Se está empezando a preparar." : `Se está preparando: va el ${percent} %.`} Puedes
        cerrar esta página y volver más tarde.
      </p>
      <progress className="advance mt-4" value={percent} max={100} aria-label="Preparación" />
    </>
  );
}
