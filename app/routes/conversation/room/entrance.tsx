import { useSearchParams } from "react-router";
import { limits } from "../../../process/limits.ts";
import { Callout } from "../../../ui/callout.tsx";
import { Field } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import type { FormResult } from "../../../web/forms/form.server.ts";
import type { ShownRoom } from "./guest-shown.server.tsx";

/** The entrance of a room: tells who reads what, and asks for an optional name. */
export function Entrance({ room, result }: { room: ShownRoom; result: FormResult | undefined }) {
  const [search] = useSearchParams();
  return (
    <>
      {search.has("salida") && (
        <Callout type="success">
          <p>Has salido, y lo que escribiste se ha borrado.</p>
        </Callout>
      )}
      {room.purpose && <p className="mt-4">{room.purpose}</p>}
      {result?.values.content && <Unasked content={result.values.content} />}
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
          <input type="hidden" name="key" value={room.enterKey} />
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

/** A question that was not asked, to be copied. */
export function Unasked({ content }: { content: string }) {
  return (
    <div className="fields mt-4">
      <Callout type="warning">
        <p>Esto no se ha preguntado: cópialo si lo quieres.</p>
      </Callout>
      <pre className="whitespace-pre-wrap break-words">{content}</pre>
    </div>
  );
}
