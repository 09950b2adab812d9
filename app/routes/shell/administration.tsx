import { NavLink, useLocation } from "react-router";
import { Icon } from "../../ui/icon.tsx";
import { MenuLink } from "../../ui/overlays/menu.tsx";
import type { AdminMenu } from "./administered.server.ts";

/** The lists of the administration, in the place of the conversations. The part with the current one is open; on the panel, all are. */
export default function Administration({ menu }: { menu: AdminMenu }) {
  const { pathname } = useLocation();
  const isIn = ([path]: AdminMenu[number]["links"][number]) => `${pathname}/`.startsWith(`/admin${path}/`);
  return (
    <>
      <ul className="items">
        <MenuLink icon="previous" className="item" to="/conversation/chat">
          <span>Volver a las conversaciones</span>
        </MenuLink>
        <li>
          <NavLink className="item" to="/admin" end>
            <Icon name="dashboard" />
            <span>Panel</span>
          </NavLink>
        </li>
      </ul>
      {menu.map(({ part, links }) => (
        <details className="menu-part" key={part} open={pathname === "/admin" || links.some(isIn)}>
          <summary className="group">{part}</summary>
          <ul className="items">
            {links.map(([path, icon, label]) => (
              <li key={path}>
                <NavLink className="item" to={`/admin${path}`}>
                  <Icon name={icon} />
                  <span>{label}</span>
                </NavLink>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </>
  );
}
