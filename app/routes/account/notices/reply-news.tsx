import { PostForm } from "../../../ui/forms/post-form.tsx";

type Props = {
  /** The address of the feed, if there is one. */
  feed: string | undefined;
  /** Whether e-mails are sent here. */
  mails: boolean;
};

/** How somebody hears of their replies without staying on the page. */
export function ReplyNews({ feed, mails }: Props) {
  return (
    <div className="stack">
      <p className="text-text-2">
        {mails
          ? "«Avísame por correo cuando esté», junto a una respuesta que se está escribiendo, te envía un correo cuando acaba."
          : "Esta instalación no envía correos."}{" "}
        Con tu canal Atom, un lector de noticias enseña tus últimas respuestas. Su dirección es secreta: quien la tiene
        las lee.
      </p>
      {feed && (
        <p>
          <code className="break-all">{feed}</code>
        </p>
      )}
      <PostForm action="/user/canal" className="buttons" preventScrollReset>
        <button type="submit" className="button" name="intent" value="renew">
          {feed ? "Cambiar la dirección" : "Crear la dirección del canal"}
        </button>{" "}
        {feed && (
          <button type="submit" className="button" name="intent" value="end">
            Retirarla
          </button>
        )}
      </PostForm>
    </div>
  );
}
