import { PostForm } from "../../ui/forms/post-form.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Menu, MenuLink } from "../../ui/overlays/menu.tsx";
import type { ListedChat } from "./chat-groups.server.ts";

const pinForm = "fijar";

/** The one form that the pin buttons of all rows submit. */
export const PinForm = () => (
  <PostForm id={pinForm} action="/sidebar/fijar" navigate={false}>
    <span />
  </PostForm>
);

/** Actions on a conversation without opening it. */
export function RowMenu({ id, title, pinned }: ListedChat) {
  const menu = `fila-${id}`;
  return (
    <Menu id={menu} label={`Opciones de ${title}`}>
      <li>
        <button type="submit" form={pinForm} name={pinned ? "unpin" : "pin"} value={id}>
          <Icon name="pin" />
          {pinned ? "Desfijar" : "Fijar"}
        </button>
      </li>
      <MenuLink icon="edit" to={`/conversation/chat/${id}/editar`}>
        Cambiar el título
      </MenuLink>
      <MenuLink icon="trash" className="danger" to={`/conversation/chat/${id}/eliminar`}>
        Eliminar
      </MenuLink>
    </Menu>
  );
}
