import { type ReactNode, Suspense } from "react";
import { NavLink, type NavLinkProps, useLocation } from "react-router";
import { PostForm } from "../../ui/forms/post-form.tsx";
import { Icon, type IconName } from "../../ui/icon.tsx";
import { lazily } from "../../ui/lazily.ts";
import { ListNavLink } from "../../ui/navigation/list-links.tsx";
import { MenuLink } from "../../ui/overlays/menu.tsx";
import { Wordmark } from "../../ui/wordmark.tsx";
import type { AdminMenu } from "./administered.server.ts";
import type { ChatGroup } from "./chat-groups.server.ts";
import { PinForm, RowMenu } from "./row-menu.tsx";

const Administration = lazily(() => import("./administration.tsx"));

type Props = {
  /** `label`: the name of the person's plan, or «Administración». */
  person: { name: string; email: string; initials: string; label: string | undefined; administers: boolean };
  groups: ChatGroup[];
  projects: { id: string; name: string }[];
  /** The lists of the administration; empty unless the person is an admin. */
  administered: AdminMenu;
  /** Whether the person is in a group, as things may be shown to groups. */
  inGroups: boolean;
  /** Whether rows have a menu; a text browser would show all of them open. */
  menus: boolean;
  inert: boolean;
};

/** Chats and projects; beside the page on wide screens, over it on narrow ones, with no script for either. */
export function Sidebar({ person, groups, projects, administered, inGroups, menus, inert }: Props) {
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
        {pathname.startsWith("/admin") && administered.length > 0 ? (
          <Suspense>
            <Administration menu={administered} />
          </Suspense>
        ) : (
          <Conversations groups={groups} projects={projects} inGroups={inGroups} menus={menus} />
        )}
      </div>
      <footer>
        <PersonMenu {...person} />
      </footer>
    </nav>
  );
}

function Conversations({
  groups,
  projects,
  inGroups,
  menus,
}: Pick<Props, "groups" | "projects" | "inGroups" | "menus">) {
  return (
    <>
      <ul className="items">
        <Place icon="plus" name="Nueva conversación" to="/conversation/chat" data-ahead={undefined} />
        <MenuLink icon="search" className="item" to="/conversation/chat?buscar" id="ir-a-buscar">
          <span>Buscar</span>
        </MenuLink>
        <Place icon="project" name="Proyectos" to="/conversation/project">
          {projects.length > 0 && <Projects projects={projects} />}
        </Place>
        <Place icon="assistant" name="Asistentes" to="/conversation/assistant" />
        {inGroups && <Place icon="users" name="De tus grupos" to="/conversation/ensenadas" />}
      </ul>
      <Listed groups={groups} menus={menus} />
    </>
  );
}

type PlaceProps = Pick<NavLinkProps, "to"> & {
  icon: IconName;
  name: string;
  "data-ahead"?: undefined;
  children?: ReactNode;
};

/** A page of the workspace, with what is listed below it. */
function Place({ icon, name, children, ...link }: PlaceProps) {
  return (
    <li>
      <NavLink className="item" end data-ahead {...link}>
        <Icon name={icon} />
        <span>{name}</span>
      </NavLink>
      {children}
    </li>
  );
}

/** The conversations by groups of time, with their menus except in a text browser. */
function Listed({ groups, menus }: Pick<Props, "groups" | "menus">) {
  return (
    <>
      {groups.map(([group, listed]) => (
        <section key={group} aria-labelledby={`g-${group}`}>
          <h2 className="group" id={`g-${group}`}>
            {group}
          </h2>
          <ul className="items">
            {listed.map((chat) => (
              <li key={chat.id} className="listed">
                <ListNavLink className="item" to={`/conversation/chat/${chat.id}`} data-ahead>
                  <span>{chat.title}</span>
                </ListNavLink>
                {menus && <RowMenu {...chat} />}
              </li>
            ))}
          </ul>
        </section>
      ))}
      {menus && groups.length > 0 && <PinForm />}
      {groups.length === 0 && <p className="px-3 pt-6 text-text-3">Aquí aparecerán tus conversaciones.</p>}
    </>
  );
}

function Projects({ projects }: Pick<Props, "projects">) {
  return (
    <ul className="items within">
      {projects.map(({ id, name }) => (
        <li key={id}>
          <ListNavLink className="item" to={`/conversation/project/${id}`} data-ahead>
            <span>{name}</span>
          </ListNavLink>
        </li>
      ))}
    </ul>
  );
}

function PersonMenu({ name, initials, label, administers }: Props["person"]) {
  const { pathname } = useLocation();
  return (
    <>
      <button className="person" type="button" popoverTarget="persona">
        <span className="initials" aria-hidden="true">
          {initials}
        </span>{" "}
        <span className="clip">
          {name} <span className="line">{label}</span>
        </span>
        <Icon name="more" />
      </button>
      <div className="menu person-menu" id="persona" popover="auto">
        <ul>
          <MenuLink icon="person" to="/user" data-ahead>
            Tu cuenta
          </MenuLink>
          <MenuLink icon="document" to="/user/file" data-ahead>
            Tus archivos
          </MenuLink>
          {administers && (
            <MenuLink icon="dashboard" to="/admin">
              Administración
            </MenuLink>
          )}
          <MenuLink icon="rocket" to="/paginas-ligeras">
            Páginas ligeras
          </MenuLink>
          <MenuLink icon="info" to="/user/ayuda" state={{ from: pathname }}>
            Ayuda
          </MenuLink>
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
