import { redirect, useSearchParams } from "react-router";
import { z } from "zod";
import { momentInWords } from "../../../process/time-zones.server.ts";
import { Callout } from "../../../ui/callout.tsx";
import { spentInWords } from "../../../ui/figures/spent.ts";
import { Fields } from "../../../ui/forms/fields.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { Leaf } from "../../../ui/leaf.tsx";
import { named } from "../../../ui/navigation/page-title.ts";
import { accepted, read, whenStatus } from "../../../web/api-result.server.ts";
import { apiContext, type Context, formContext } from "../../../web/context.ts";
import { type FormResult, sendFields } from "../../../web/forms/form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import { zoneOfPerson } from "../../../web/house.server.ts";
import { Checks } from "../assistant/sharing.tsx";
import { DeletionButtons } from "../deletion-buttons.tsx";
import type { Route } from "./+types/room";
import { RoomFields } from "./room-fields.tsx";
import { boundFields, boundsOf } from "./room-form.server.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta: Route.MetaFunction = ({ loaderData, matches }) => named(matches, loaderData?.room.name ?? "Sala");

export async function loader({ context, params: { id }, request, url }: Route.LoaderArgs) {
  const one = context.get(apiContext).api.room[":id"];
  const param = { id };
  const [room, { items: guests }, zone] = await Promise.all([
    read(one.$get({ param })),
    read(one.guests.$get({ param })),
    zoneOfPerson(context, request),
  ]);
  const entrance = await read(context.get(apiContext).api.guest.room[":code"].$get({ param: { code: room.code } }));
  const now = Date.now();
  const moment = (at: string) => momentInWords(Date.parse(at), now, zone);
  return {
    room,
    address: `${url.origin}/sala/${room.code}`,
    // The reason why nobody can enter, if the room has neither ended nor been closed.
    refusal: room.isOpen && Date.parse(room.endsAt) > now ? entrance.refusal : null,
    hasEnded: Date.parse(room.endsAt) <= now,
    until: moment(room.endsAt),
    documents: await documentsOf(context, room),
    guests: guests.map(({ id: guestId, name, asked, joinedAt, lastAt }, n) => ({
      id: guestId,
      name: name || `Persona ${n + 1}`,
      line: lastAt
        ? `${asked === 1 ? "una pregunta" : `${asked.toLocaleString("es")} preguntas`}, la última ${moment(lastAt)}`
        : `entró ${moment(joinedAt)}, y no ha preguntado`,
    })),
  };
}

/** Documents of the assistant, and which of them the room looks into; other people's documents are left out. */
async function documentsOf(context: Context, room: { assistantId: string | null; fileIds: string[] | null }) {
  const { api } = context.get(apiContext);
  if (!room.assistantId) return [];
  const assistant = await read(api.assistant[":id"].$get({ param: { id: room.assistantId } })).catch(
    whenStatus(404, undefined),
  );
  const files = await Promise.all(
    (assistant?.fileIds ?? []).map((id) =>
      read(api.file[":id"].$get({ param: { id } })).catch(whenStatus(404, undefined)),
    ),
  );
  return files.flatMap((file) =>
    file ? [{ id: file.id, name: file.name, isChosen: room.fileIds?.includes(file.id) ?? true }] : [],
  );
}

const fields = z.object({ does: z.enum(["change", "close", "open", "delete"]), ...boundFields });

export const action = ({ context, params: { id } }: Route.ActionArgs) =>
  sendFields(context, fields, async ({ does, ...typed }) => {
    const one = context.get(apiContext).api.room[":id"];
    const param = { id };
    if (does === "delete") {
      await accepted(one.$delete({ param }));
      return redirect("/conversation/sala", 303);
    }
    const { name, assistantId, fileIds, endsAt, people, messages, budget, showsTexts } = await read(
      one.$get({ param }),
    );
    const room = { name, assistantId, fileIds, endsAt, people, messages, budget, showsTexts };
    const json =
      does === "change"
        ? { ...room, ...boundsOf(typed), ...(await chosenIn(context, room)) }
        : { ...room, isOpen: does === "open" };
    await accepted(one.$patch({ param, json }));
    return redirect(`/conversation/sala/${id}`, 303);
  });

/** The documents that were marked, and the chosen ones that the person is not shown; empty if the choice is unchanged. */
async function chosenIn(context: Context, room: { assistantId: string | null; fileIds: string[] | null }) {
  const shown = await documentsOf(context, room);
  const marked = new Set(context.get(formContext).getAll("fileIds"));
  if (shown.every(({ id, isChosen }) => marked.has(id) === isChosen)) return {};
  const unseen = (room.fileIds ?? []).filter((fileId) => !shown.some(({ id }) => id === fileId));
  const chosen = shown.filter(({ id }) => marked.has(id)).map(({ id }) => id);
  const isAll = chosen.length === shown.length && unseen.length === 0;
  return { fileIds: isAll ? null : [...unseen, ...chosen] };
}

/** A room, for the person who has opened it: its address, its figures, its guests and its bounds. */
export default function Room({ loaderData, actionData }: Route.ComponentProps) {
  const { room, address, refusal, hasEnded, until, guests } = loaderData;
  const { id, name } = room;
  const [search] = useSearchParams();
  const isOpen = room.isOpen && !hasEnded;
  return (
    <Leaf back={["/conversation/sala", "Volver a las salas"]} title={name}>
      {(refusal || !room.assistantId) && (
        <div className="mt-4">
          <Callout type="warning">
            <p>
              {room.assistantId
                ? `Quien llega lee: «${refusal}»`
                : "Su asistente ya no existe, así que nadie puede preguntar."}
            </p>
          </Callout>
        </div>
      )}
      <HowItGoes room={room} hasEnded={hasEnded} until={until} />
      {isOpen && (
        <>
          <p className="mt-4 break-all">
            <a href={address}>{address}</a>
          </p>
          <p className="buttons mt-4">
            <a className="button primary" href={`/conversation/sala/${id}/hoja`}>
              Hoja para imprimir, con QR
            </a>
          </p>
        </>
      )}
      <PostForm className="mt-4">
        <div className="buttons">
          {!hasEnded && (
            <button type="submit" className="button" name="does" value={room.isOpen ? "close" : "open"}>
              {room.isOpen ? "Cerrar ahora" : "Volver a abrir"}
            </button>
          )}{" "}
          <DeletionButtons
            asked={search.has("eliminar")}
            at={`/conversation/sala/${id}`}
            words="Eliminar la sala y todo lo escrito en ella"
          />
        </div>
      </PostForm>
      <Guests room={room} guests={guests} />
      <ChangeForm {...loaderData} result={actionData ?? undefined} />
    </Leaf>
  );
}

type Loaded = Route.ComponentProps["loaderData"];

/** Whether the room is open, and how much of its bounds is used. */
function HowItGoes({ room, hasEnded, until }: Pick<Loaded, "room" | "hasEnded" | "until">) {
  const { joined, people, asked, messages, spent, budget } = room;
  const number = (n: number) => n.toLocaleString("es");
  const cost = spentInWords(spent, budget);
  return (
    <p className="mt-4" role="status">
      {hasEnded
        ? `Terminó ${until}. Lo escrito se borra un día después.`
        : room.isOpen
          ? `Abierta hasta ${until}.`
          : "Cerrada: nadie entra ni pregunta."}{" "}
      Han entrado {number(joined)} de {number(people)} personas y se ha preguntado {number(asked)} de {number(messages)}{" "}
      veces.
      {cost && ` Además, ${cost}.`}
    </p>
  );
}

function Guests({ room, guests }: Pick<Loaded, "room" | "guests">) {
  return (
    <>
      <h2 className="mt-8">Quién ha entrado</h2>
      <p className="mt-3 text-text-2">
        {room.showsTexts
          ? "A cada persona se le ha dicho que leerás lo que escriba."
          : "A cada persona se le ha dicho que nadie más lee lo que escriba."}
      </p>
      {guests.length === 0 ? (
        <p className="mt-3">Nadie, por ahora.</p>
      ) : (
        <ul className="rows mt-4">
          {guests.map((guest) => (
            <li className="row" key={guest.id}>
              <div>
                {room.showsTexts ? (
                  <a className="title" href={`/conversation/sala/${room.id}/persona/${guest.id}`}>
                    {guest.name}
                  </a>
                ) : (
                  <p className="title">{guest.name}</p>
                )}
                <p className="line">{guest.line}</p>
              </div>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

type ChangeProps = Pick<Loaded, "room" | "hasEnded" | "until" | "documents"> & { result: FormResult | undefined };

function ChangeForm({ room, hasEnded, until, documents, result }: ChangeProps) {
  return (
    <>
      <h2 className="mt-8">Cambiarla</h2>
      <PostForm className="fields mt-4">
        <Fields id="sala" result={result}>
          <RoomFields room={room} kept={hasEnded ? "Nada más: ha terminado" : `Como está: hasta ${until}`} />
          {documents.length > 0 && (
            <Checks
              legend="Documentos en los que busca"
              name="fileIds"
              choices={documents}
              isOn={(fileId) => documents.some((one) => one.id === fileId && one.isChosen)}
            />
          )}
        </Fields>
        <div className="buttons">
          <button type="submit" className="button" name="does" value="change">
            Guardar
          </button>
        </div>
      </PostForm>
    </>
  );
}
