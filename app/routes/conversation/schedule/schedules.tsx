import { Link, useOutlet } from "react-router";
import { limits } from "../../../process/limits.ts";
import { cutText } from "../../../process/text/cut-text.ts";
import { momentInWords } from "../../../process/time-zones.server.ts";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { showSeen } from "../../../ui/navigation/pages-seen.ts";
import { BehindDialog } from "../../../ui/overlays/behind-dialog.tsx";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import type { Route } from "./+types/schedules";
import { repetition } from "./repetition.server.ts";

export const meta: Route.MetaFunction = () => [{ title: "Preguntas programadas · Tertulia" }];

export async function loader({ context }: Route.LoaderArgs) {
  const { items } = await read(context.get(apiContext).api.schedule.$get({ query: { limit: String(limits.listMax) } }));
  const now = Date.now();
  return {
    schedules: items.map(({ id, content, nextAt, chatId, problem, enabled, ...when }) => ({
      id,
      content,
      when: repetition(when),
      next: enabled ? `La próxima, ${momentInWords(Date.parse(nextAt), now, when.zone)}` : "Parada: no se pregunta",
      chatId,
      problem,
    })),
  };
}

export const clientLoader = (args: Route.ClientLoaderArgs) => showSeen(args);

type Shown = Route.ComponentProps["loaderData"]["schedules"][number];

export default function Schedules({ loaderData: { schedules } }: Route.ComponentProps) {
  const dialog = useOutlet();
  return (
    <BehindDialog dialog={dialog}>
      <DashboardPage width="column">
        <div className="head">
          <h1>Preguntas programadas</h1>
          <Link className="button primary" to="/conversation/schedule/crear" preventScrollReset>
            Programar una pregunta
          </Link>
        </div>
        {schedules.length === 0 ? (
          <p className="mt-6 text-text-2">
            Una pregunta programada se hace sola, por ejemplo cada lunes a las 8, y su respuesta te espera en una
            conversación nueva. Aún no hay ninguna.
          </p>
        ) : (
          <ul className="rows mt-6">
            {schedules.map((schedule) => (
              <ScheduleRow key={schedule.id} {...schedule} />
            ))}
          </ul>
        )}
      </DashboardPage>
    </BehindDialog>
  );
}

function ScheduleRow({ id, content, when, next, chatId, problem }: Shown) {
  const name = cutText(content, 60);
  return (
    <li className="row stacked">
      <div>
        <p className="title clip">{content}</p>
        <p className="line">
          {when}. {next}.
        </p>
        {problem && <p className="error">La última vez no se pudo preguntar. {problem}</p>}
      </div>
      <span className="end">
        {chatId && (
          <>
            <Link className="action" to={`/conversation/chat/${chatId}`}>
              Última respuesta<span className="sr-only"> de {name}</span>
            </Link>{" "}
          </>
        )}
        <Link className="action" to={`/conversation/schedule/${id}/editar`} preventScrollReset>
          Editar<span className="sr-only"> {name}</span>
        </Link>{" "}
        <Link className="action" to={`/conversation/schedule/${id}/eliminar`} preventScrollReset>
          Eliminar<span className="sr-only"> {name}</span>
        </Link>
      </span>
    </li>
  );
}
