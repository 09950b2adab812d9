import { Link } from "react-router";
import { PostForm } from "../../ui/forms/post-form.tsx";
import { Icon } from "../../ui/icon.tsx";
import type { ListedChat } from "./chat-groups.ts";

const pinForm = "fijar";

/** What the pins of all rows send: one form for as many buttons. */
export const PinForm = () => (
  <PostForm id={pinForm} action="/sidebar/fijar" navigate={false}>
    <span />
  </PostForm>
);

/** What can be done with a conversation without opening it. */
export function RowMenu({ id, title, pinned }: ListedChat) {
  const menu = `fila-${id}`;
  return (
    <>
      <button className="button quiet small only" type="button" popoverTarget={menu}>
        <Icon name="more" label={`Opciones de ${title}`} />
      </button>
      <div className="menu" id={menu} popover="auto">
        <ul>
          <li>
            <button type="submit" form={pinForm} name={pinned ? "unpin" : "pin"} value={id}>
              <Icon name="pin" />
              {pinned ? "Desfijar" : "Fijar"}
            </button>
          </li>
          <li>
            <Link to={`/conversation/chat/${id}/editar`}>
              <Icon name="edit" />
              Cambiar el título
            </Link>
          </li>
          <li>
            <Link className="danger" to={`/conversation/chat/${id}/eliminar`}>
              <Icon name="trash" />
              Eliminar
            </Link>
          </li>
        </ul>
      </div>
    </>
  );
}
