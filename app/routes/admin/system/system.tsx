import { Link, redirect, useOutlet } from "react-router";
import { Callout } from "../../../ui/callout.tsx";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { BehindDialog } from "../../../ui/overlays/behind-dialog.tsx";
import { TableHead } from "../../../ui/table-head.tsx";
import { ApiProblem, read } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import { sizeInWords } from "../../../web/file-display.server.ts";
import { zoneContext, zoneInWords } from "../zone.server.ts";
import type { Route } from "./+types/system";

export const meta: Route.MetaFunction = () => [{ title: "Sistema · Tertulia" }];

const engines = { sqlite: "SQLite", postgres: "PostgreSQL" };
// Below it the next copy, or a busy week, may not fit.
const littleRoom = 1_000_000_000;

export async function loader({ context }: Route.LoaderArgs) {
  const { api } = context.get(apiContext);
  const [system, backups] = await Promise.all([read(api.system.$get()), read(api.system.backup.$get())]);
  const { storage, migrations } = system;
  const moment = new Intl.DateTimeFormat("es", {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: context.get(zoneContext),
  });
  const said = (at: string | null) => (at ? moment.format(Date.parse(at)) : "pendiente");
  const facts: [label: string, text: string][] = [
    ["Versión", system.version],
    ["Base de datos", `${engines[system.engine]} ${system.engineVersion}, ${sizeInWords(storage.database)}`],
    ["Node", system.node],
    ["En marcha desde", `${said(system.startedAt)} (${zoneInWords(context)})`],
    ["Memoria", sizeInWords(system.memory)],
    ["Archivos", sizeInWords(storage.files)],
    ["Espacio libre", `${sizeInWords(storage.free)} de ${sizeInWords(storage.total)}`],
    ["Correo", system.mail ? "Configurado" : "Sin configurar: lo que llega queda en el buzón."],
  ];
  return {
    facts,
    fills: storage.free < littleRoom + storage.database,
    lost: system.lost,
    copies: system.engine === "sqlite",
    backups: backups.items.map(({ name, at, size }) => ({ name, at: said(at), size: sizeInWords(size) })),
    migrations: migrations.map(({ name, at }) => ({ name, at: said(at) })),
  };
}

/** «Hacer una copia ahora». */
export async function action({ context, url }: Route.ActionArgs) {
  const session = context.get(sessionContext);
  try {
    const { size } = await read(context.get(apiContext).api.system.backup.$post());
    session.flash({ type: "success", title: "La copia está hecha.", description: `Ocupa ${sizeInWords(size)}.` });
  } catch (error) {
    // A failure that the API explains, such as a full disk, is shown on this page; a 500 goes to the error page.
    if (!(error instanceof ApiProblem) || error.status === 500) throw error;
    session.flash({ type: "error", title: error.body.detail, duration: 0 });
  }
  return redirect(url.pathname, 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function System({ loaderData }: Route.ComponentProps) {
  const { facts, fills, lost, copies, backups, migrations } = loaderData;
  const outlet = useOutlet();
  return (
    <BehindDialog dialog={outlet}>
      <DashboardPage width="listing" up={["/admin", "Panel"]}>
        <h1>Sistema</h1>
        <dl className="facts">
          {facts.map(([label, text]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
        {fills && (
          <div className="mt-4">
            <Callout type="warning">
              <p>Queda poco espacio. Borra copias antiguas o amplía el disco: lleno, nadie puede escribir.</p>
            </Callout>
          </div>
        )}
        {lost.models + lost.authenticators > 0 && <Lost {...lost} />}
        <section className="mt-7">
          <h2>Copias</h2>
          {copies ? <Copies backups={backups} /> : <OwnMeans />}
        </section>
        <section className="mt-7">
          <h2>Diagnóstico</h2>
          <p className="mt-2">
            Comprueba si un proxy de delante retiene las páginas que se escriben poco a poco o quita cabeceras.
          </p>
          <p className="mt-4">
            <Link className="button" to="/admin/sistema/diagnostico">
              Diagnóstico
            </Link>
          </p>
        </section>
        <section className="mt-7">
          <h2>Migraciones</h2>
          <Migrations migrations={migrations} />
        </section>
      </DashboardPage>
    </BehindDialog>
  );
}

function Migrations({ migrations }: { migrations: { name: string; at: string }[] }) {
  return (
    <table className="table mt-4">
      <TableHead texts={["Nombre", "Hecha"]} />
      <tbody>
        {migrations.map(({ name, at }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{at}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Copies({ backups }: { backups: { name: string; at: string; size: string }[] }) {
  return (
    <>
      <p className="mt-2">
        Una copia es la base de datos tal como está en este momento. Al descargarla va con los archivos de todos, en un{" "}
        <code>.tar</code> que se extrae en una carpeta de datos vacía. El fichero <code>secret</code> no va dentro:
        guárdalo aparte, porque sin él no se leen las claves de los modelos.
      </p>
      <PostForm className="mt-4">
        <button type="submit" className="button primary">
          Hacer una copia ahora
        </button>
      </PostForm>
      {backups.length === 0 ? (
        <p className="mt-4 text-text-2">Aún no hay ninguna copia.</p>
      ) : (
        <table className="table cards mt-4">
          <TableHead texts={["Copia", "Hecha"]} numbers={["Tamaño"]} actions />
          <tbody>
            {backups.map(({ name, at, size }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td data-label="Hecha">{at}</td>
                <td data-label="Tamaño" className="num">
                  {size}
                </td>
                <td className="ends">
                  <span className="actions">
                    <a className="action" href={`/admin/sistema/copias/${name}`} download>
                      Descargar<span className="sr-only"> {name}</span>
                    </a>{" "}
                    <Link className="action" to={`/admin/sistema/copias/${name}/eliminar`} preventScrollReset>
                      Eliminar<span className="sr-only"> {name}</span>
                    </Link>
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function OwnMeans() {
  return (
    <p className="mt-2">
      Con PostgreSQL la copia se hace con su programa: <code>pg_dump "$DATABASE_URL" &gt; tertulia.sql</code>. Copia
      también <code>files</code> y <code>secret</code>, de la carpeta de datos.
    </p>
  );
}

/** After the master secret was lost or changed by hand: all the rest works. */
function Lost({ models, authenticators }: { models: number; authenticators: number }) {
  return (
    <div className="mt-4">
      <Callout type="warning">
        <p>El secreto del servidor no es aquel con el que se guardaron algunas cosas, y no se pueden leer.</p>
        {models > 0 && (
          <p>
            {models === 1 ? "La clave de un modelo" : `Las claves de ${models} modelos`}:{" "}
            <Link to="/admin/model">escríbelas otra vez en sus fichas</Link>.
          </p>
        )}
        {authenticators > 0 && (
          <p>
            El segundo paso de {authenticators === 1 ? "una cuenta" : `${authenticators} cuentas`}: quítalo con{" "}
            <code>npm run cuenta:sin-codigo</code>, o vuelve a poner el secreto anterior.
          </p>
        )}
      </Callout>
    </div>
  );
}
