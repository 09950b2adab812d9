import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";

/** The line at the top of a dashboard page: what opens and folds the sidebar, then the page's own. */
export function Bar({ children }: { children: ReactNode }) {
  return (
    <header className="bar">
      <button className="button quiet small only narrow" type="button" popoverTarget="barra">
        <Icon name="menu" label="Abrir la barra" />
      </button>
      <label className="button quiet small only wide fold">
        <input className="sr-only" type="checkbox" />
        <Icon name="panel" label="Ocultar la barra" />
      </label>
      {children}
    </header>
  );
}
