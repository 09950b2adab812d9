import { createElement as element } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { Link, MemoryRouter, NavLink } from "react-router";
import { expect, it } from "vitest";
import { ListLink, ListNavLink } from "../../app/ui/navigation/list-links.tsx";

/** The attributes of a link as a page at `/conversation/chat/1/editar` has it, in order of their names. */
const attributesOf = (link: React.ReactNode) =>
  [
    ...renderToStaticMarkup(element(MemoryRouter, { initialEntries: ["/conversation/chat/1/editar"] }, link)).matchAll(
      / ([\w-]+)="([^"]*)"/g,
    ),
  ]
    .map(([, name, value]) => `${name}=${value}`)
    .toSorted();

it("links of lists are plain on the server, with the attributes of the router's own", () => {
  expect(ListLink).not.toBe(Link);
  const props = { to: "/conversation/chat/1/eliminar", className: "danger", state: {}, preventScrollReset: true };
  expect(attributesOf(element(ListLink, props))).toEqual(attributesOf(element(Link, props)));
});

it.each([
  "/conversation/chat/1",
  "/conversation/chat/1/editar",
  "/conversation/chat",
  "/conversation/chat/11",
  "/user",
])("a link to %s is current where the router's is", (to) => {
  const props = { to, className: "item", "data-ahead": true };
  expect(attributesOf(element(ListNavLink, props))).toEqual(attributesOf(element(NavLink, props)));
});
