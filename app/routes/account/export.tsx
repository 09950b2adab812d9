import { Link, redirect } from "react-router";
import { momentInWords, zoneOf } from "../../process/time-zones.server.ts";
import { Callout } from "../../ui/callout.tsx";
import { DashboardPage } from "../../ui/dashboard-page.tsx";
import { PostForm } from "../../ui/forms/post-form.tsx";
import { sendForm } from "../../ui/forms/send-form.ts";
import { ApiProblem, accepted, read } from "../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../web/context.ts";
import { requireUser } from "../../web/current-user.server.ts";
import { sizeInWords } from "../../web/file-display.server.ts";
import type { Route } from "./+types/export";

export const meta: Route.MetaFunction = () => [{ title: "Descargar mis datos · Tertulia" }];

// In ms: the API keeps what it has prepared for so long.
const kept = 24 * 60 * 60_000;

/** How far what was asked for last has come. With a script the page is told of each step; without one it is asked for again. */
export async function loader({ context, request }: Route.LoaderArgs) {
  const { user } = await requireUser(context);
  const { items } = await read(context.get(apiContext).api.user[":id"].exports.$get({ param: { id: user.id } }));
  const [job] = items;
  if (!job) return { state: "none" as const };
  if (job.state === "failed") return { state: "failed" as const, problem: job.problem ?? "" };
  if (job.state !== "done") {
    const percent =
      job.done === null || !job.total ? undefined : Math.min(99, Math.floor((100 * job.done) / job.total));
    return { state: "underway" as const, percent };
  }
  const { name, size } = job.result as { name: string; size: number };
  return {
    state: "done" as const,
    href: `/user/datos/${job.id}`,
    name,
    size: sizeInWords(size),
    until: momentInWords(Date.parse(job.updatedAt) + kept, Date.now(), zoneOf(request)),
  };
}

/** Has everything prepared anew. */
export async function action({ context }: Route.ActionArgs) {
  const { user } = await requireUser(context);
  try {
    await accepted(context.get(apiContext).api.user[":id"].export.$post({ param: { id: user.id } }));
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.status === 401) throw error;
    context.get(sessionContext).flash({ type: "error", title: error.body.detail, duration: 0 });
  }
  return redirect("/user/datos", 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function Export({ loaderData }: Route.ComponentProps) {
  return (
    <DashboardPage width="document" up={["/user", "Tu cuenta"]}>
      <h1>Descargar mis datos</h1>
      <p>
        Un ZIP con tus conversaciones en Markdown y JSON, tus archivos como los subiste y los datos de tu cuenta. Puedes
        importarlo en otra instalación de Tertulia.
      </p>
      <Progress {...loaderData} />
    </DashboardPage>
  );
}

function Progress(props: Route.ComponentProps["loaderData"]) {
  if (props.state === "underway") {
    return (
      <>
        <p role="status">
          {props.percent === undefined
            ? "Se está empezando a preparar."
            : `Se está preparando: va el ${props.percent} %.`}{" "}
          Puedes cerrar esta página y volver más tarde.
        </p>
        <progress className="advance mt-4" value={props.percent} max={100} aria-label="Preparación" />
        <p className="mt-4">
          <Link className="button" to=".">
            Ver cómo va
          </Link>
        </p>
      </>
    );
  }
  if (props.state === "done") {
    return (
      <>
        <Callout type="success">
          <p>
            {props.name} está listo: {props.size}. Se borra del servidor {props.until}. Si la descarga se corta, puedes
            seguirla donde se quedó.
          </p>
        </Callout>
        <div className="buttons mt-4">
          <a className="button primary" href={props.href} download>
            Descargar
          </a>{" "}
          <Prepare className="button">Prepararlo otra vez</Prepare>
        </div>
      </>
    );
  }
  return (
    <>
      {props.state === "failed" && (
        <Callout type="error">
          <p>No se han podido preparar tus datos: {props.problem}</p>
        </Callout>
      )}
      <div className="mt-4">
        <Prepare className="button primary">Preparar la descarga</Prepare>
      </div>
    </>
  );
}

function Prepare({ className, children }: { className: string; children: string }) {
  return (
    <PostForm>
      <button type="submit" className={className}>
        {children}
      </button>
    </PostForm>
  );
}
