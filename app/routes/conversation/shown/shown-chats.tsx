import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { ago } from "../../../ui/times.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { ChatRow } from "../chat/chat-row.tsx";
import type { Route } from "./+types/shown-chats";

export const meta = titled("De tus grupos");

export async function loader({ context }: Route.LoaderArgs) {
  const { items } = await read(context.get(apiContext).api.chat.shown.$get());
  const now = Date.now();
  return items.map(({ id, title, ownerName, lastMessageAt }) => ({
    id,
    title,
    extract: `De ${ownerName}`,
    when: ago(lastMessageAt, now),
  }));
}

/** Chats that others show to the person's groups. */
export default function ShownChats({ loaderData: chats }: Route.ComponentProps) {
  return (
    <DashboardPage width="column">
      <h1>De tus grupos</h1>
      {chats.length === 0 ? (
        <p className="mt-6 text-text-2">
          Aquí sale lo que otras personas enseñan a tus grupos. Para enseñar algo tuyo: «Compartir», en sus opciones.
        </p>
      ) : (
        <ul className="rows mt-6">
          {chats.map((chat) => (
            <ChatRow key={chat.id} {...chat} />
          ))}
        </ul>
      )}
    </DashboardPage>
  );
}
