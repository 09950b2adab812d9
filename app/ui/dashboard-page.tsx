import type { ReactNode } from "react";
import { Link } from "react-router";
import { Bar } from "./bar.tsx";

type Props = {
  /** How wide the content may become: names of layouts in the style sheets. */
  width: "column" | "document" | "listing" | "sheet";
  /** The page above this one: its path and its name. */
  up?: [path: string, name: string];
  /** Actions on the whole page, on the right of its bar. */
  actions?: ReactNode;
  children: ReactNode;
};

/** A page of the dashboard below its bar. Conversations and projects, which hold a composer, are laid out by themselves. */
export function DashboardPage({ width, up, actions, children }: Props) {
  return (
    <>
      <Bar>
        {up ? (
          <p className="where">
            <Link to={up[0]}>{up[1]}</Link>
          </p>
        ) : (
          <span className="flex-1" />
        )}
        {actions}
      </Bar>
      <main className="page" id="contenido">
        <div className={`in ${width}`}>{children}</div>
      </main>
    </>
  );
}
