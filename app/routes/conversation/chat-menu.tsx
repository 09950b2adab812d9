import { type MouseEvent, use } from "react";
import { Link, useNavigate, useRevalidator } from "react-router";
import { Icon } from "../../ui/icon.tsx";
import { FormToken, PostForm } from "../../ui/post-form.tsx";

const dialogs = [
  ["mover", "project", "Mover a un proyecto"],
  ["compartir", "globe", "Compartir"],
  ["exportar", "download", "Exportar"],
] as const;

/** What can be done with a chat. */
export function ChatMenu({ id, pinned, archived }: { id: string; pinned: boolean; archived: boolean }) {
  const formToken = use(FormToken);
  const navigate = useNavigate();
  const { revalidate } = useRevalidator();
  const deleteWithUndo = async (event: MouseEvent) => {
    // A new tab is for who wants to be asked.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const { deleteLater } = await import("./delete-later.ts");
    await navigate("/conversation/chat");
    deleteLater({ id, formToken, refresh: revalidate, back: () => navigate(`/conversation/chat/${id}`) });
  };
  return (
    <>
      <button className="button quiet small only" type="button" popoverTarget="opciones">
        <Icon name="more" label="Opciones de la conversación" />
      </button>
      <div className="menu" id="opciones" popover="auto">
        <ul>
          <li>
            <PostForm action={`/conversation/chat/${id}`}>
              <input type="hidden" name="intent" value="pin" />
              <input type="hidden" name="pinned" value={pinned ? "0" : "1"} />
              <button type="submit">
                <Icon name="pin" />
                {pinned ? "Desfijar" : "Fijar"}
              </button>
            </PostForm>
          </li>
          <li>
            <Link to={`/conversation/chat/${id}/editar`}>
              <Icon name="edit" />
              Cambiar el título
            </Link>
          </li>
          <li>
            <PostForm action={`/conversation/chat/${id}`}>
              <input type="hidden" name="intent" value="archive" />
              <input type="hidden" name="archived" value={archived ? "0" : "1"} />
              <button type="submit">
                <Icon name="book" />
                {archived ? "Sacar del archivo" : "Archivar"}
              </button>
            </PostForm>
          </li>
          {dialogs.map(([path, icon, label]) => (
            <li key={path}>
              <Link to={`/conversation/chat/${id}/${path}`} preventScrollReset>
                <Icon name={icon} />
                {label}
              </Link>
            </li>
          ))}
          <li>
            <Link className="danger" to={`/conversation/chat/${id}/eliminar`} onClick={deleteWithUndo}>
              <Icon name="trash" />
              Eliminar
            </Link>
          </li>
        </ul>
      </div>
    </>
  );
}
