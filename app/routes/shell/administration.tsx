import { NavLink } from "react-router";
import { Icon } from "../../ui/icon.tsx";
import { MenuLink } from "../../ui/overlays/menu.tsx";

/** The lists of the administration, in the place of the conversations. */
export default function Administration({ links }: { links: (readonly [path: string, icon: string, label: string])[] }) {
  return (
    <>
      <ul className="items">
        <MenuLink icon="previous" className="item" to="/conversation/chat">
          <span>Volver a las conversaciones</span>
        </MenuLink>
      </ul>
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
    </>
  );
}
