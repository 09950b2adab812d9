import { redirect, useSearchParams } from "react-router";
import { v7 as newId } from "uuid";
import { z } from "zod";
import { isTextBrowser } from "../../../http/text-browsers.server.ts";
import { limits } from "../../../process/limits.ts";
import { momentInWords } from "../../../process/time-zones.server.ts";
import { Callout } from "../../../ui/callout.tsx";
import { Field } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { named } from "../../../ui/navigation/page-title.ts";
import { Wordmark } from "../../../ui/wordmark.tsx";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext, type Context, lightContext } from "../../../web/context.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import { zoneOfPerson } from "../../../web/house.server.ts";
import { carryLive } from "../reply/live.server.tsx";
import { chunksOf } from "../stream/chunks.server.ts";
import type { Route } from "./+types/guest";
import { asGuest, checkCode, conversationOf, type GuestConversation, keepGuest } from "./guest-session.server.ts";
import { RoomReplyEnd } from "./room-reply-end.tsx";
import { RoomTurn } from "./room-turn.tsx";
import { showRoomTurns } from "./room-turns.server.ts";

export const meta: Route.MetaFunction = ({ loaderData, matches }) => [
  ...named(matches, loaderData?.room.name ?? "Sala"),
  // Whoever has the address may come in; nobody is to find it.
  { name: "robots", content: "noindex" },
];

export async function loader({ context, params: { code }, request, url }: Route.LoaderArgs) {
  checkCode(code);
  const before = url.searchParams.get("antes") ?? undefined;
  const [conversation, zone] = await Promise.all([
    conversationOf(context, code, request, before),
    zoneOfPerson(context, request),
  ]);
  const room = conversation ?? (await read(context.get(apiContext).api.guest.room[":code"].$get({ param: { code } })));
  const now = Date.now();
  return {
    room: {
      name: room.name,
      assistant: room.assistant,
      purpose: room.purpose,
      host: room.host,
      until: momentInWords(Date.parse(room.endsAt), now, zone),
      deleted: momentInWords(Date.parse(room.deletedAt), now, zone),
      showsTexts: room.showsTexts,
      aiNotice: room.aiNotice,
      refusal: room.refusal,
      beginnings: room.beginnings,
    },
    talk: conversation && (await talkOf(context, code, request, conversation)),
  };
}

// Messages: below that, the page says how many are left.
const fewLeft = 20;

async function talkOf(context: Context, code: string, request: Request, conversation: GuestConversation) {
  const { items, hasEarlier, guest, left, assistant } = conversation;
  const last = items.at(-1);
  const isGrowing = last?.status === "streaming";
  return {
    guest,
    left: left <= fewLeft ? left : undefined,
    earlier: hasEarlier ? items[0]?.id : undefined,
    turns: await showRoomTurns(items, {
      at: `/sala/${code}`,
      name: assistant,
      owner: code,
      light: context.get(lightContext),
    }),
    marker: isGrowing ? await growing(context, code, request, last) : undefined,
    // Text browsers show a page only when it is complete, when there is nothing left to stop.
    stoppable: isGrowing && !isTextBrowser(request),
    sendKey: newId(),
  };
}

/** Place of the reply that is being written, which the page carries. */
async function growing(context: Context, code: string, request: Request, reply: GuestConversation["items"][number]) {
  const header = await asGuest(code, request);
  const { follow } = context.get(apiContext).api.guest.message[":messageId"];
  const param = { messageId: reply.id };
  const chunks = (async function* () {
    yield* chunksOf(await accepted(follow.$post({ param, header }, { init: { signal: request.signal } })));
  })();
  const live = { id: reply.id, chunks, drawingsAt: `/sala/${code}/dibujo/${reply.id}/` };
  return carryLive(context, live, request, ({ end, sources }) => (
    <RoomReplyEnd
      id={reply.id}
      questionId={reply.parentId}
      at={`/sala/${code}`}
      status={end.status}
      error={end.error ?? null}
      sources={sources}
    />
  ));
}

const fields = z.object({
  does: z.enum(["enter", "ask", "again", "stop", "leave"]),
  name: z.string().default(""),
  content: z.string().default(""),
  key: z.string().default(""),
  messageId: z.string().default(""),
});

export const action = ({ context, params: { code }, request }: Route.ActionArgs) => {
  checkCode(code);
  return sendFields(context, fields, async ({ does, name, content, key, messageId }) => {
    const { guest } = context.get(apiContext).api;
    const at = `/sala/${code}`;
    if (does === "enter") {
      // Somebody who has gone back and comes in again is there already.
      if (await conversationOf(context, code, request)) return redirect(at, 303);
      const entered = await read(guest.room[":code"].$post({ param: { code }, json: { name } }));
      return redirect(at, { status: 303, headers: { "Set-Cookie": await keepGuest(code, request, entered.token) } });
    }
    const header = await asGuest(code, request);
    if (does === "stop") await accepted(guest.stop.$post({ header }));
    if (does === "leave") {
      await accepted(guest.$delete({ header }));
      const gone = await keepGuest(code, request, "");
      return redirect(`${at}?salida`, { status: 303, headers: { "Set-Cookie": gone } });
    }
    if (does !== "ask" && does !== "again") return redirect(`${at}#final`, 303);
    const json = does === "ask" ? { content, ...(key && { key }) } : { again: messageId };
    const started = await read(guest.message.$post({ header, json }));
    return redirect(`${at}#m-${started.messageId}`, 303);
  });
};

/** A room for whoever has its address: its entrance, then their conversation with its assistant. No script takes part. */
export default function GuestRoom({ loaderData: { room, talk }, actionData, params: { code } }: Route.ComponentProps) {
  const result = actionData ?? undefined;
  return (
    <main className="room" id="contenido">
      <p>
        <Wordmark />
      </p>
      <h1 className="mt-4">{room.name}</h1>
      <p className="mt-2 text-text-2">
        {`${talk?.guest ? `${talk.guest}, hablas` : "Se habla"} con ${room.assistant}. Abierta por ${room.host} hasta ${room.until}.`}
      </p>
      {talk ? <Talk code={code} room={room} talk={talk} result={result} /> : <Entrance room={room} result={result} />}
    </main>
  );
}

type Data = Route.ComponentProps["loaderData"];
type Result = Parameters<typeof Fields>[0]["result"];

function Entrance({ room, result }: { room: Data["room"]; result: Result }) {
  const [search] = useSearchParams();
  return (
    <>
      {search.has("salida") && (
        <Callout type="success">
          <p>Has salido, y lo que escribiste se ha borrado.</p>
        </Callout>
      )}
      {room.purpose && <p className="mt-4">{room.purpose}</p>}
      {result?.values.content && (
        <div className="fields mt-4">
          <Callout type="warning">
            <p>Ya no estabas en la sala, y esto no se ha preguntado. Cópialo antes de entrar otra vez.</p>
          </Callout>
          <pre className="whitespace-pre-wrap break-words">{result.values.content}</pre>
        </div>
      )}
      <ul className="points mt-4">
        <li>{room.aiNotice}</li>
        <li>
          {room.showsTexts
            ? `${room.host} leerá lo que escribas y lo que se te conteste.`
            : `Nadie más lee lo que escribas: ${room.host} solo ve el nombre que pongas, y cuánto y cuándo preguntas.`}
        </li>
        <li>{`Todo se borra cuando salgas, o un día después de que acabe la sala: ahora mismo, ${room.deleted}. No hace falta cuenta, y no escribas datos de nadie.`}</li>
      </ul>
      {room.refusal ? (
        <div className="mt-6">
          <Callout type="warning">
            <p>{room.refusal}</p>
          </Callout>
        </div>
      ) : (
        <PostForm className="fields mt-6">
          <Fields id="entrar" result={result}>
            <Field
              name="name"
              label="Cómo quieres que se te llame"
              hint="Si quieres: puede quedar vacío."
              maxLength={limits.name}
              autoComplete="off"
            />
          </Fields>
          <div className="buttons">
            <button type="submit" className="button primary" name="does" value="enter">
              Entrar
            </button>
          </div>
        </PostForm>
      )}
    </>
  );
}

type TalkProps = { code: string; room: Data["room"]; talk: NonNullable<Data["talk"]>; result: Result };

function Talk({ code, room, talk, result }: TalkProps) {
  const { turns, marker, stoppable, earlier } = talk;
  const at = `/sala/${code}`;
  const typed = result?.values.content ?? "";
  const refused = result && (Object.values(result.errors)[0] ?? result.message);
  return (
    <>
      {earlier && (
        <p className="mt-6">
          <a className="button small" href={`${at}?antes=${earlier}`}>
            Ver mensajes anteriores
          </a>
        </p>
      )}
      <div className="turns mt-6">
        {stoppable && (
          <PostForm className="stop-reply" action={at}>
            <button type="submit" className="button small" name="does" value="stop">
              Detener
            </button>
          </PostForm>
        )}
        {turns.map((turn, n) => (
          <RoomTurn key={turn.id} turn={turn} at={at} marker={n === turns.length - 1 ? marker : undefined} />
        ))}
        <span id="final" />
      </div>
      {turns.length === 0 && room.beginnings.length > 0 && (
        <PostForm className="buttons mt-6" action={at}>
          <input type="hidden" name="does" value="ask" />
          {room.beginnings.map((beginning) => (
            <button key={beginning} type="submit" className="button" name="content" value={beginning}>
              {beginning}
            </button>
          ))}
        </PostForm>
      )}
      {room.refusal ? (
        <div className="mt-6">
          <Callout type="warning">
            <p>{`${room.refusal} Lo escrito se puede leer y copiar hasta que se borre, ${room.deleted}.`}</p>
          </Callout>
        </div>
      ) : (
        <PostForm className="mt-6" action={at}>
          <input type="hidden" name="key" value={talk.sendKey} />
          {refused && (
            <p className="error mb-3" role="alert">
              {refused}
            </p>
          )}
          <div className="composer">
            <label className="sr-only" htmlFor="mensaje">
              Tu pregunta
            </label>
            <textarea
              id="mensaje"
              name="content"
              rows={3}
              required
              maxLength={limits.message}
              placeholder="Escribe tu pregunta"
              defaultValue={typed}
            />
            <div className="tools">
              <button type="submit" className="button primary send" name="does" value="ask">
                Preguntar
              </button>
            </div>
          </div>
          <p className="ai-notice">{room.aiNotice}</p>
          {talk.left !== undefined && (
            <p className="ai-notice">
              {talk.left === 1
                ? "En la sala queda un mensaje, entre todas las personas."
                : `En la sala quedan ${talk.left} mensajes, entre todas las personas.`}
            </p>
          )}
        </PostForm>
      )}
      <Leave at={at} deleted={room.deleted} />
    </>
  );
}

function Leave({ at, deleted }: { at: string; deleted: string }) {
  const [search] = useSearchParams();
  return (
    <PostForm className="mt-8 text-text-2" action={at}>
      {search.has("salir") ? (
        <>
          <p>Se borrará todo lo que hay en esta página, y no se puede recuperar.</p>
          <div className="buttons mt-3">
            <button type="submit" className="button" name="does" value="leave">
              Salir y borrarlo
            </button>{" "}
            <a className="button" href={at}>
              Quedarme
            </a>
          </div>
        </>
      ) : (
        <p>
          <a href="?salir=1">Salir y borrar lo mío</a>
          {`. Si no, se borra ${deleted}.`}
        </p>
      )}
    </PostForm>
  );
}
