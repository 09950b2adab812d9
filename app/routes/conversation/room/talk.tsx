import { useSearchParams } from "react-router";
import { limits } from "../../../process/limits.ts";
import { Callout } from "../../../ui/callout.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import type { FormResult } from "../../../web/forms/form.server.ts";
import { Unasked } from "./entrance.tsx";
import type { ShownRoom, ShownTalk } from "./guest-shown.server.tsx";
import { RoomTurn } from "./room-turn.tsx";

type TalkProps = { code: string; room: ShownRoom; talk: ShownTalk; result: FormResult | undefined };

/** A guest's conversation, the reply that grows in it, and the form for the next question. */
export function Talk({ code, room, talk, result }: TalkProps) {
  const { turns, marker, stoppable, earlier } = talk;
  const at = `/sala/${code}`;
  const typed = result?.values.content ?? "";
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
        <div id="final" />
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
          {typed && <Unasked content={typed} />}
          <Callout type="warning">
            <p>{`${room.refusal} Lo escrito se puede leer y copiar hasta que se borre, ${room.deleted}.`}</p>
          </Callout>
        </div>
      ) : (
        <AskForm at={at} room={room} talk={talk} result={result} />
      )}
      <Leave at={at} deleted={room.deleted} />
    </>
  );
}

/** The form for the next question, and how many the room has left. */
function AskForm({ at, room, talk, result }: Omit<TalkProps, "code"> & { at: string }) {
  const refused = result && (Object.values(result.errors)[0] ?? result.message);
  return (
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
          defaultValue={result?.values.content ?? ""}
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
