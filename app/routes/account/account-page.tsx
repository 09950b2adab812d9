import type { ReactNode } from "react";
import { NavLink } from "react-router";
import { DashboardPage } from "../../ui/dashboard-page.tsx";
import { BehindDialog } from "../../ui/overlays/behind-dialog.tsx";

const pages = [
  ["/user", "Perfil y uso"],
  ["/user/seguridad", "Seguridad"],
  ["/user/avisos", "Avisos"],
  ["/user/datos", "Tus datos"],
] as const;

type Props = { dialog: ReactNode; children: ReactNode };

/** A page of the account, with links to the other pages. */
export function AccountPage({ dialog, children }: Props) {
  return (
    <BehindDialog dialog={dialog}>
      <DashboardPage width="sheet">
        <h1>Tu cuenta</h1>
        <nav aria-label="Tu cuenta">
          <ul className="tabs">
            {pages.map(([to, name]) => (
              <li key={to}>
                <NavLink to={to} end={to === "/user"} preventScrollReset>
                  {name}
                </NavLink>
              </li>
            ))}
          </ul>
        </nav>
        {children}
      </DashboardPage>
    </BehindDialog>
  );
}

/** A part of a page that links can name. */
export function Section({ id, title, children }: { id: string; title: string; children: ReactNode }) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}
