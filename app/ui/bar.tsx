import { type MouseEvent, type ReactNode, use } from "react";
import { Icon } from "./icon.tsx";
import { FormTokenField } from "./post-form.tsx";
import { SidebarState } from "./sidebar-state.ts";

/**
 * The line at the top of a dashboard page: what opens and folds the sidebar, then the page's own. `keeps` names the form
 * whose text goes along when a page without a script folds the sidebar, so that it is not lost.
 */
export function Bar({ keeps, children }: { keeps?: string; children: ReactNode }) {
  return (
    <header className="bar">
      <button className="button quiet small only narrow" type="button" popoverTarget="barra">
        <Icon name="menu" label="Abrir la barra" />
      </button>
      {keeps ? (
        <Fold form={keeps} />
      ) : (
        <form className="wide" method="post" action="/sidebar">
          <FormTokenField />
          <Fold />
        </form>
      )}
      {children}
    </header>
  );
}

function Fold({ form }: { form?: string }) {
  const { folded, toggle } = use(SidebarState);
  const foldHere = (event: MouseEvent<HTMLButtonElement>) => {
    event.preventDefault();
    const { form, name, value } = event.currentTarget;
    const body = new URLSearchParams({ [name]: value });
    body.set("formToken", String(form && new FormData(form).get("formToken")));
    toggle();
    void fetch("/sidebar", { method: "POST", body, keepalive: true, redirect: "manual" }).catch(() => {});
  };
  return (
    <button
      type="submit"
      className="button quiet small only wide"
      form={form}
      formAction="/sidebar"
      formNoValidate
      name="sidebar"
      value={folded ? "open" : "closed"}
      onClick={foldHere}
    >
      <Icon name="panel" label={folded ? "Mostrar la barra" : "Ocultar la barra"} />
    </button>
  );
}
