import { renderSVG } from "uqr";
import { named } from "../../../ui/navigation/page-title.ts";
import { read, whenStatus } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import { getHouse, zoneOfPerson } from "../../../web/house.server.ts";
import type { Route } from "./+types/room-sheet";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta: Route.MetaFunction = ({ loaderData, matches }) => named(matches, loaderData?.room.name ?? "Sala");

export async function loader({ context, params: { id }, request, url }: Route.LoaderArgs) {
  const { api } = context.get(apiContext);
  const room = await read(api.room[":id"].$get({ param: { id } }));
  const [entrance, house, zone] = await Promise.all([
    read(api.guest.room[":code"].$get({ param: { code: room.code } })).catch(whenStatus(404, undefined)),
    getHouse(context),
    zoneOfPerson(context, request),
  ]);
  const address = `${url.origin}/sala/${room.code}`;
  return {
    room,
    house: house.name,
    assistant: entrance?.assistant ?? "",
    purpose: entrance?.purpose ?? "",
    host: entrance?.host ?? "",
    address,
    // On paper nobody knows which day «today» was.
    until: new Date(room.endsAt).toLocaleString("es", { dateStyle: "long", timeStyle: "short", timeZone: zone }),
    // The code is scanned from a wall, at some distance.
    picture: renderSVG(address, { border: 2 }).replace("<svg", '<svg role="img" aria-label="Código QR de la sala"'),
  };
}

/** A sheet to be printed and handed out, with the room's address and what to do with it. */
export default function RoomSheet({ loaderData }: Route.ComponentProps) {
  const { room, house, assistant, purpose, host, address, until, picture } = loaderData;
  return (
    <main className="leaf printed room-sheet" id="contenido">
      <p>{house}</p>
      <h1 className="mt-2">{room.name}</h1>
      {assistant && <p className="mt-3">{`Para preguntar a ${assistant}, una inteligencia artificial. ${purpose}`}</p>}
      {/* Safe: drawn here from an address of ours. */}
      <div className="receipt-code mt-6" dangerouslySetInnerHTML={{ __html: picture }} />
      <p className="address mt-3">{address.replace(/^https?:\/\//, "")}</p>
      <ol className="points mt-6">
        <li>Apunta al código con la cámara del móvil, o escribe la dirección en cualquier navegador.</li>
        <li>Pon un nombre, o ninguno, y entra. No hace falta cuenta ni instalar nada.</li>
        <li>Escribe tu pregunta. La respuesta lleva los números de los documentos de donde sale.</li>
        <li>Puede equivocarse: comprueba lo importante. No escribas datos personales, tuyos ni de nadie.</li>
      </ol>
      <p className="mt-6">
        {`Se puede preguntar hasta el ${until}. `}
        {room.showsTexts
          ? `${host} leerá lo que se escriba.`
          : `Nadie más lee lo que se escriba: ${host} solo ve cuánto y cuándo se pregunta.`}{" "}
        Un día después se borra todo.
      </p>
    </main>
  );
}
