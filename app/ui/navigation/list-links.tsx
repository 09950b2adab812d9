import type { ComponentProps, ReactNode } from "react";
import { Link, type LinkProps, NavLink, useLocation } from "react-router";

// Links of long lists. The router's components cost the server 20 µs each, a third of a page with sixty conversations. There, plain links
// with the same attributes do: the script that takes the page over brings the router's own.

// No other option of the router's: on the server it would become an attribute.
type ListLinkProps = Omit<ComponentProps<"a">, "href"> &
  Pick<LinkProps, "state" | "preventScrollReset"> & { to: string };

/** The router's `Link`, to an address that begins with a slash. */
export const ListLink: (props: ListLinkProps) => ReactNode = import.meta.env.SSR
  ? ({ to, state: _, preventScrollReset: __, ...link }) => <a {...link} href={to} data-discover />
  : Link;

type NavProps = ListLinkProps & { className: string };

/** The router's `NavLink`, to an address that begins with a slash; it also stands for the pages below that page. */
export const ListNavLink: (props: NavProps) => ReactNode = import.meta.env.SSR ? ServerNavLink : NavLink;

function ServerNavLink({ to, className, ...link }: NavProps) {
  const { pathname } = useLocation();
  const isCurrent = pathname === to || pathname.startsWith(`${to}/`);
  return (
    <ListLink
      {...link}
      to={to}
      className={isCurrent ? `${className} active` : className}
      aria-current={isCurrent ? "page" : undefined}
    />
  );
}
