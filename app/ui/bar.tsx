import { type MouseEvent, type ReactNode, use } from "react";
import { Link, useLocation } from "react-router";
import { FormToken, FormTokenField } from "./forms/post-form.tsx";
import { Icon } from "./icon.tsx";
import { SidebarState } from "./navigation/sidebar-state.ts";

/**
 * The top bar of a dashboard page: the sidebar's buttons, then `children`. `keeps` is the id of a form of the page: without
 * script, folding the sidebar submits that form, so that its text is not lost.
 */
export function Bar({ keeps, children }: { keeps?: string; children: ReactNode }) {
  const plus = useLocation().pathname !== "/conversation/chat";
  return (
    <header className="bar" id="menu">
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
      {plus && (
        <Link className="button quiet small only narrow" to="/conversation/chat">
          <Icon name="plus" label="Nueva conversación" />
        </Link>
      )}
    </header>
  );
}

function Fold({ form }: { form?: string }) {
  const { folded, toggle } = use(SidebarState);
  const formToken = use(FormToken);
  const sidebar = folded ? "open" : "closed";
  const foldHere = (event: MouseEvent) => {
    event.preventDefault();
    const body = new URLSearchParams({ sidebar, formToken });
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
      value={sidebar}
      onClick={foldHere}
    >
      <Icon name="panel" label={folded ? "Mostrar la barra" : "Ocultar la barra"} />
    </button>
  );
}
