import { Link, redirect, useOutlet } from "react-router";
import { Callout } from "../../../ui/callout.tsx";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { Icon } from "../../../ui/icon.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { BehindDialog } from "../../../ui/overlays/behind-dialog.tsx";
import { TableHead } from "../../../ui/table-head.tsx";
import { read, tellRefusal } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import { sizeInWords } from "../../../web/file-display.server.ts";
import { zoneContext, zoneInWords } from "../zone.server.ts";
import type { Route } from "./+types/system";

export const meta = titled("Sistema");

const engines = { sqlite: "SQLite", postgres: "PostgreSQL" };
// In ms: a clock that differs more than this from the database's is reported.
const clockSkew = 5_000;
// In bytes: with less free space, the next copy or a busy week may not fit.
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
    processes:
      system.processes.length < 2 ? [] : system.processes.map((one) => processInWords(one, said(one.startedAt))),
    skewed: system.processes.some(({ ahead }) => Math.abs(ahead) > clockSkew),
    jobs: system.jobs,
    nightly: nightlyInWords(system.nightly, said),
    migrations: migrations.map(({ name, at }) => ({ name, at: said(at) })),
  };
}

// In ms: a copy this old means a missed night.
const lateAfter = 36 * 60 * 60_000;

/** The copies of each night, and whether something is wrong with them. */
function nightlyInWords(
  { wanted, at, answers }: { wanted: boolean; at: string | null; answers: boolean },
  said: (at: string) => string,
): { text: string; isLate: boolean } {
  if (!wanted) return { text: "Con BACKUP_URL se hace una copia cada noche, en otro sitio.", isLate: false };
  if (!answers) return { text: "El sitio de las copias de cada noche no contesta: mira el registro.", isLate: true };
  if (!at) return { text: "Aún no hay ninguna copia de cada noche.", isLate: true };
  const isLate = Date.now() - Date.parse(at) > lateAfter;
  const last = `La última copia buena de cada noche es de ${said(at)}.`;
  return { text: isLate ? `${last} Desde entonces ha fallado: mira el registro.` : last, isLate };
}

/** «Hacer una copia ahora». */
export async function action({ context, url }: Route.ActionArgs) {
  const session = context.get(sessionContext);
  try {
    const { size } = await read(context.get(apiContext).api.system.backup.$post());
    session.flash({ type: "success", title: "La copia está hecha.", description: `Ocupa ${sizeInWords(size)}.` });
  } catch (error) {
    // The disk may be full.
    tellRefusal(context)(error);
  }
  return redirect(url.pathname, 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function System({ loaderData }: Route.ComponentProps) {
  const { fills, lost, copies, backups, skewed, jobs, nightly } = loaderData;
  const outlet = useOutlet();
  return (
    <BehindDialog dialog={outlet}>
      <DashboardPage width="listing" up={["/admin", "Panel"]}>
        <h1>Sistema</h1>
        {fills && (
          <div className="mt-4">
            <Callout type="warning">
              <p>Queda poco espacio. Borra copias antiguas o amplía el disco: lleno, nadie puede escribir.</p>
            </Callout>
          </div>
        )}
        {Object.values(lost).some((count) => count > 0) && <Lost {...lost} />}
        {skewed && (
          <div className="mt-4">
            <Callout type="warning">
              <p>
                El reloj de una máquina no va con el de la base de datos. Ponlas en hora (NTP): las sesiones y los
                límites se miden con él.
              </p>
            </Callout>
          </div>
        )}
        <section className="mt-7">
          <h2>Copias</h2>
          {nightly.isLate ? (
            <div className="mt-4">
              <Callout type="warning">
                <p>{nightly.text}</p>
              </Callout>
            </div>
          ) : (
            <p className="mt-2">{nightly.text}</p>
          )}
          {copies ? <Copies backups={backups} /> : <OwnMeans />}
        </section>
        <Jobs jobs={jobs} />
        <Installation {...loaderData} />
        <Checks />
      </DashboardPage>
    </BehindDialog>
  );
}

type InstallationProps = Pick<Route.ComponentProps["loaderData"], "facts" | "processes" | "migrations">;

function Installation({ facts, processes, migrations }: InstallationProps) {
  return (
    <section className="mt-7">
      <h2>Instalación</h2>
      <dl className="facts">
        {facts.map(([label, text]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {processes.length > 0 && (
        <section className="mt-5">
          <h3>Procesos</h3>
          <ul className="mt-2 grid gap-2">
            {processes.map((said) => (
              <li key={said}>{said}</li>
            ))}
          </ul>
        </section>
      )}
      <details className="more mt-5">
        <summary>
          Migraciones: {migrations.length} <Icon name="chevron" />
        </summary>
        <Migrations migrations={migrations} />
      </details>
    </section>
  );
}

/** Checks by hand: the way to browsers, and the audit trail. */
function Checks() {
  return (
    <>
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
        <h2>Auditoría</h2>
        <p className="mt-2">
          Cada apunte lleva un sello hecho con el anterior: si alguien cambia o quita uno en la base de datos, se nota.
        </p>
        <PostForm className="mt-4" action="/admin/sistema/auditoria">
          <button type="submit" className="button">
            Comprobar la auditoría
          </button>
        </PostForm>
      </section>
    </>
  );
}

type LivingProcess = { host: string; pid: number; version: string; replies: number; memory: number; delay: number };

/** A process in a line: its name, its start and its load. */
const processInWords = ({ host, pid, version, replies, memory, delay }: LivingProcess, since: string) =>
  `${host}, proceso ${pid}, versión ${version}, desde ${since}: ${replies === 1 ? "1 respuesta" : `${replies} respuestas`}, ${sizeInWords(memory)}, ${delay} ms de retraso`;

const inWords = (count: number, one: string, many: string) => (count === 1 ? `1 ${one}` : `${count} ${many}`);

/** Jobs in the background, and those that have failed for good. */
function Jobs({ jobs: { waiting, running, failed } }: { jobs: { waiting: number; running: number; failed: number } }) {
  return (
    <section className="mt-7">
      <h2>Trabajos</h2>
      <p className="mt-2">
        Lo que se hace por detrás: leer documentos, importar, enviar correos y la limpieza de cada hora.{" "}
        {inWords(running, "en marcha", "en marcha")}, {inWords(waiting, "esperando", "esperando")} y{" "}
        {inWords(failed, "ha fallado", "han fallado")}.
      </p>
      <p className="mt-4 buttons">
        <Link className="button" to="/admin/job">
          Ver los trabajos
        </Link>
      </p>
      {failed > 0 && (
        <PostForm className="mt-4" action="/admin/sistema/trabajos">
          <button type="submit" className="button">
            Intentar otra vez los que han fallado
          </button>
        </PostForm>
      )}
    </section>
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
                    <a className="action" href={`/admin/sistema/copias/${name}`}>
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
      también los archivos (la carpeta <code>files</code> o el almacén S3) y <code>secret</code>, de la carpeta de
      datos.
    </p>
  );
}

type Counts = { models: number; tools: number; accesses: number; authenticators: number };

/** Warning after the master secret was lost or changed by hand: everything else works. */
function Lost({ models, tools, accesses, authenticators }: Counts) {
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
        {tools > 0 && (
          <p>
            {tools === 1 ? "La clave de una herramienta" : `Las claves de ${tools} herramientas`}:{" "}
            <Link to="/admin/tool">escríbelas otra vez en sus fichas</Link>.
          </p>
        )}
        {accesses > 0 && (
          <p>
            {accesses === 1 ? "El secreto de un acceso" : `Los secretos de ${accesses} accesos`}:{" "}
            <Link to="/admin/access">escríbelos otra vez en sus fichas</Link>. Mientras, nadie entra por ahí.
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
