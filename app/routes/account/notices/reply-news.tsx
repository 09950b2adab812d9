import type { ComponentProps } from "react";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { DevicesTold } from "./devices-told.tsx";

type Props = {
  /** The address of the feed, if there is one. */
  feed: string | undefined;
  /** Whether e-mails are sent here. */
  mails: boolean;
  devices: ComponentProps<typeof DevicesTold>;
};

/** How somebody hears of their replies without staying on the page. */
export function ReplyNews({ feed, mails, devices }: Props) {
  return (
    <div className="stack">
      <p className="text-text-2">
        {mails
          ? "«Avísame cuando esté», junto a una respuesta que se está escribiendo, te envía un correo cuando acaba."
          : "Esta instalación no envía correos."}{" "}
        En un dispositivo sale un aviso, también con la página cerrada: se activa en él, con JavaScript.
      </p>
      <DevicesTold {...devices} />
      <p className="text-text-2">
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
