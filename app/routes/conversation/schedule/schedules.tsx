import { Link } from "react-router";
import { limits } from "../../../process/limits.ts";
import { cutText } from "../../../process/text/cut-text.ts";
import { momentInWords } from "../../../process/time-zones.server.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { showSeen } from "../../../ui/navigation/pages-seen.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { ChangeLinks, OwnList } from "../own-list.tsx";
import type { Route } from "./+types/schedules";
import { repetition } from "./repetition.server.ts";

export const meta = titled("Preguntas programadas");

export async function loader({ context }: Route.LoaderArgs) {
  const { items } = await read(context.get(apiContext).api.schedule.$get({ query: { limit: String(limits.listMax) } }));
  const now = Date.now();
  return {
    schedules: items.map(({ id, content, nextAt, chatId, errandId, problem, enabled, ...when }) => ({
      id,
      content,
      when: repetition(when),
      next: enabled ? `La próxima, ${momentInWords(Date.parse(nextAt), now, when.zone)}` : "Parada: no se pregunta",
      last: chatId ? `/conversation/chat/${chatId}` : errandId ? `/conversation/encargo/${errandId}` : undefined,
      problem,
    })),
  };
}

export const clientLoader = (args: Route.ClientLoaderArgs) => showSeen(args);

type Shown = Route.ComponentProps["loaderData"]["schedules"][number];

export default function Schedules({ loaderData: { schedules } }: Route.ComponentProps) {
  return (
    <OwnList
      title="Preguntas programadas"
      create={["/conversation/schedule/crear", "Programar una pregunta"]}
      empty="Una pregunta programada se hace sola, por ejemplo cada lunes a las 8, y su respuesta te espera en una conversación nueva. Aún no hay ninguna."
      rows={schedules.map((schedule) => <ScheduleRow key={schedule.id} {...schedule} />)}
    />
  );
}

function ScheduleRow({ id, content, when, next, last, problem }: Shown) {
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
        {last && (
          <>
            <Link className="action" to={last}>
              Última respuesta<span className="sr-only"> de {name}</span>
            </Link>{" "}
          </>
        )}
        <ChangeLinks at={`/conversation/schedule/${id}`} name={name} />
      </span>
    </li>
  );
}
