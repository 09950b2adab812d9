import { PostForm } from "../../../ui/forms/post-form.tsx";
import type { Device } from "./device.server.ts";

type ShownSession = Device & { id: string; current: boolean };

/** The person's open sessions. This session ends by signing out. */
export function Sessions({ sessions }: { sessions: ShownSession[] }) {
  return (
    <div className="stack">
      <ul className="rows">
        {sessions.map(({ id, device, seen, current }) => (
          <li key={id} className="row">
            <div>
              <p className="title">{device}</p>
              <p className="line">{seen}</p>
            </div>
            {current ? (
              <span className="badge good">Esta sesión</span>
            ) : (
              <PostForm action={`/user/sesiones/${id}`} preventScrollReset>
                <button type="submit" className="button small">
                  Cerrar sesión<span className="sr-only"> de {device}</span>
                </button>
              </PostForm>
            )}
          </li>
        ))}
      </ul>
      <div className="buttons">
        <PostForm action="/auth/signout" reloadDocument>
          <button type="submit" className="button">
            Cerrar sesión
          </button>
        </PostForm>
        {sessions.length > 1 && (
          <PostForm action="/user/sesiones" preventScrollReset>
            <button type="submit" className="button quiet">
              Cerrar las demás
            </button>
          </PostForm>
        )}
      </div>
    </div>
  );
}
