import { Link, NavLink, useLocation } from "react-router";
import { Icon } from "../../ui/icon.tsx";
import { PostForm } from "../../ui/post-form.tsx";
import { Wordmark } from "../../ui/wordmark.tsx";
import { groupChats, type ListedChat } from "./chat-groups.ts";

type Props = {
  person: { name: string; role: string; plan: string };
  chats: ListedChat[];
  projects: { id: string; name: string }[];
  /** The lists of the administration; none for who is no admin. */
  administered: (readonly [path: string, icon: string, label: string])[];
  inert: boolean;
};

/** Chats and projects; beside the page on wide screens, over it on narrow ones, with no script for either. */
export function Sidebar({ person, chats, projects, administered, inert }: Props) {
  const { pathname } = useLocation();
  return (
    <nav className="sidebar" id="barra" popover="auto" aria-label="Conversaciones" inert={inert}>
      <header>
        <Wordmark />{" "}
        <button
          className="button quiet small only narrow"
          type="button"
          popoverTarget="barra"
          popoverTargetAction="hide"
          // biome-ignore lint/a11y/noAutofocus: where the keyboard goes when the sidebar opens over the page
          autoFocus
        >
          <Icon name="close" label="Cerrar la barra" />
        </button>
      </header>
      <div className="lists">
        <ul className="items">
          <li>
            <NavLink className="item" to="/conversation/chat" end>
              <Icon name="plus" />
              <span>Nueva conversación</span>
            </NavLink>
          </li>
          <li>
            <Link className="item" to="/conversation/chat#buscar">
              <Icon name="search" />
              <span>Buscar</span>
            </Link>
          </li>
          <li>
            <NavLink className="item" to="/conversation/project" end data-ahead>
              <Icon name="project" />
              <span>Proyectos</span>
            </NavLink>
          </li>
        </ul>
        {pathname.startsWith("/admin") && <Administration links={administered} />}
        {projects.length > 0 && <Projects projects={projects} />}
        {groupChats(chats, new Date()).map(([group, listed]) => (
          <section key={group} aria-labelledby={`g-${group}`}>
            <h2 className="group" id={`g-${group}`}>
              {group}
            </h2>
            <ul className="items">
              {listed.map(({ id, title }) => (
                <li key={id}>
                  <NavLink className="item" to={`/conversation/chat/${id}`} data-ahead>
                    <span>{title}</span>
                  </NavLink>
                </li>
              ))}
            </ul>
          </section>
        ))}
        {chats.length === 0 && <p className="px-3 pt-6 text-text-3">Aquí aparecerán tus conversaciones.</p>}
      </div>
      <footer>
        <PersonMenu {...person} />
      </footer>
    </nav>
  );
}

function Administration({ links }: { links: Props["administered"] }) {
  return (
    <section aria-labelledby="g-admin">
      <h2 className="group" id="g-admin">
        Administración
      </h2>
      <ul className="items">
        {links.map(([path, icon, label]) => (
          <li key={path}>
            <NavLink className="item" to={`/admin${path}`} end={path === ""}>
              <Icon name={icon} />
              <span>{label}</span>
            </NavLink>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Projects({ projects }: Pick<Props, "projects">) {
  return (
    <section aria-labelledby="g-proyectos">
      <h2 className="group" id="g-proyectos">
        Proyectos
      </h2>
      <ul className="items">
        {projects.map(({ id, name }) => (
          <li key={id}>
            <NavLink className="item" to={`/conversation/project/${id}`} data-ahead>
              <Icon name="project" />
              <span>{name}</span>
            </NavLink>
          </li>
        ))}
      </ul>
    </section>
  );
}

const plans: Record<string, string> = { gratis: "Plan Gratis", pro: "Plan Pro", equipo: "Plan Equipo" };

function PersonMenu({ name, plan, role }: Props["person"]) {
  const { pathname } = useLocation();
  const initials = (name.match(/(?<![\p{L}\p{N}])[\p{L}\p{N}]/gu) ?? []).slice(0, 2).join("").toUpperCase();
  return (
    <>
      <button className="person" type="button" popoverTarget="persona">
        <span className="initials" aria-hidden="true">
          {initials}
        </span>{" "}
        <span className="clip">
          {name} <span className="line">{role === "admin" ? "Administración" : plans[plan]}</span>
        </span>
        <Icon name="more" />
      </button>
      <div className="menu person-menu" id="persona" popover="auto">
        <ul>
          <li>
            <Link to="/user" data-ahead>
              <Icon name="shield" />
              Tu cuenta
            </Link>
          </li>
          <li>
            <Link to="/user/file" data-ahead>
              <Icon name="document" />
              Tus archivos
            </Link>
          </li>
          {role === "admin" && (
            <li>
              <Link to="/admin">
                <Icon name="dashboard" />
                Administración
              </Link>
            </li>
          )}
          <li>
            <Link to="/user/ayuda" state={{ from: pathname }}>
              <Icon name="info" />
              Ayuda
            </Link>
          </li>
        </ul>
        <hr />
        <PostForm action="/auth/signout" reloadDocument>
          <button type="submit">
            <Icon name="logout" />
            Cerrar sesión
          </button>
        </PostForm>
      </div>
    </>
  );
}
