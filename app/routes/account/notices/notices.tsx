import { titled } from "../../../ui/navigation/page-title.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { mayWork, requireUser } from "../../../web/current-user.server.ts";
import { AccountPage, Section } from "../account-page.tsx";
import type { Route } from "./+types/notices";
import { ReplyNews } from "./reply-news.tsx";

export const meta = titled("Avisos");

export async function loader({ context, url }: Route.LoaderArgs) {
  const { api } = context.get(apiContext);
  if (!mayWork(await requireUser(context))) return { news: undefined };
  const [feed, devices] = await Promise.all([read(api.feed.$get()), read(api.device.$get())]);
  return {
    news: {
      feed: feed.token ? `${url.origin}/canal/${feed.token}` : undefined,
      mails: devices.mails,
      devices: { deviceKey: devices.key, count: devices.count, here: devices.here },
    },
  };
}

export default function Notices({ loaderData: { news } }: Route.ComponentProps) {
  return (
    <AccountPage dialog={null}>
      {news && (
        <Section id="avisos" title="Respuestas que esperas">
          <ReplyNews {...news} />
        </Section>
      )}
      <Section id="sin-conexion" title="Sin conexión">
        <p className="text-text-2">
          Con JavaScript, lo que lees se guarda una semana en este navegador para leerlo sin conexión, y lo que escribes
          sin ella se envía cuando vuelve. Se borra al cerrar la sesión.{" "}
          <a href="/sin-conexion">Lo guardado y lo pendiente</a>
        </p>
      </Section>
    </AccountPage>
  );
}
