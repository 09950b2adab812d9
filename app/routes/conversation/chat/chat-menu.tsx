import { type MouseEvent, use } from "react";
import { useNavigate, useRevalidator } from "react-router";
import { FormToken, PostForm } from "../../../ui/forms/post-form.tsx";
import { Icon, type IconName } from "../../../ui/icon.tsx";
import { Menu, MenuLink } from "../../../ui/overlays/menu.tsx";

const dialogs = [
  ["mover", "project", "Mover a un proyecto"],
  ["herramientas", "rocket", "Herramientas"],
  ["compartir", "globe", "Compartir"],
  ["exportar", "download", "Exportar"],
] as const;

type MenuProps = { id: string; pinned: boolean; archived: boolean; shown: string };

/** Actions on a chat. `shown`: query of the version that is shown. */
export function ChatMenu({ id, pinned, archived, shown }: MenuProps) {
  const formToken = use(FormToken);
  const navigate = useNavigate();
  const { revalidate } = useRevalidator();
  const deleteWithUndo = async (event: MouseEvent) => {
    // With a modifier key, the link opens the page that asks for confirmation in a new tab or window.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const deleting = await import("./delete-later.ts");
    await deleting.deleteLater({ id, formToken, revalidate, navigate });
  };
  return (
    <Menu id="opciones" label="Opciones de la conversación">
      <li>
        <Switch id={id} intent="pin" name="pinned" on={pinned} icon="pin">
          {pinned ? "Desfijar" : "Fijar"}
        </Switch>
      </li>
      <MenuLink icon="edit" to={`/conversation/chat/${id}/editar`}>
        Cambiar el título
      </MenuLink>
      <li>
        <Switch id={id} intent="archive" name="archived" on={archived} icon="book">
          {archived ? "Desarchivar" : "Archivar"}
        </Switch>
      </li>
      {dialogs.map(([path, icon, label]) => (
        <MenuLink key={path} icon={icon} to={`/conversation/chat/${id}/${path}${shown}`} preventScrollReset>
          {label}
        </MenuLink>
      ))}
      <MenuLink icon="trash" className="danger" to={`/conversation/chat/${id}/eliminar`} onClick={deleteWithUndo}>
        Eliminar
      </MenuLink>
    </Menu>
  );
}

type SwitchProps = { id: string; intent: string; name: string; on: boolean; icon: IconName; children: string };

/** Turns a property of a chat on, or off if it is on. */
function Switch({ id, intent, name, on, icon, children }: SwitchProps) {
  return (
    <PostForm action={`/conversation/chat/${id}`}>
      <input type="hidden" name="intent" value={intent} />
      <input type="hidden" name={name} value={on ? "0" : "1"} />
      <button type="submit">
        <Icon name={icon} />
        {children}
      </button>
    </PostForm>
  );
}
