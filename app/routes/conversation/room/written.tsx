import { named } from "../../../ui/navigation/page-title.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext, lightContext } from "../../../web/context.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import type { Route } from "./+types/written";
import { RoomTurn } from "./room-turn.tsx";
import { showRoomTurns } from "./room-turns.server.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta: Route.MetaFunction = ({ loaderData, matches }) => named(matches, loaderData?.name ?? "Sala");

export async function loader({ context, params: { id, guestId }, url }: Route.LoaderArgs) {
  const one = context.get(apiContext).api.room[":id"];
  const before = url.searchParams.get("antes") ?? undefined;
  const [room, guest] = await Promise.all([
    read(one.$get({ param: { id } })),
    read(one.guests[":guestId"].$get({ param: { id, guestId }, query: before ? { before } : {} })),
  ]);
  return {
    room: room.name,
    name: guest.name || "Sin nombre",
    earlier: guest.hasEarlier ? guest.items[0]?.id : undefined,
    turns: await showRoomTurns(guest.items, { owner: room.code, name: "Respuesta", light: context.get(lightContext) }),
  };
}

/** Messages of a guest, for the person who has opened the room and told its guests that they would read them. */
export default function Written({ loaderData: { room, name, earlier, turns }, params: { id } }: Route.ComponentProps) {
  return (
    <main className="room" id="contenido">
      <p>
        <a href={`/conversation/sala/${id}`}>Volver a {room}</a>
      </p>
      <h1 className="mt-4 break-words">{name}</h1>
      {earlier && (
        <p className="mt-6">
          <a className="button small" href={`?antes=${earlier}`}>
            Ver mensajes anteriores
          </a>
        </p>
      )}
      {turns.length === 0 && <p className="mt-4">No ha preguntado nada.</p>}
      <div className="turns mt-6">
        {turns.map((turn) => (
          <RoomTurn key={turn.id} turn={turn} />
        ))}
      </div>
    </main>
  );
}
