import { type RefObject, useEffect } from "react";
import { useNavigate } from "react-router";

/** Follows links in HTML that the server has rendered, without loading a new document, as the router's own links do. */
export function useLinks(container: RefObject<HTMLElement | null>): void {
  const navigate = useNavigate();
  useEffect(() => {
    const follow = (event: MouseEvent) => {
      // The router marks its own links with `data-discover`, on the server too.
      const link =
        event.target instanceof Element
          ? event.target.closest<HTMLAnchorElement>("a[data-discover], a[data-copy]")
          : null;
      // Clicks that open another tab or window are the browser's.
      if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      const { copy, still } = link.dataset;
      event.preventDefault();
      if (copy !== undefined) return void import("./copy-text.ts").then((copying) => copying.copyText(link));
      const { pathname, search, hash, href } = link;
      void navigate(pathname + search + hash, {
        replace: href === location.href,
        preventScrollReset: still !== undefined,
      });
    };
    const element = container.current;
    element?.addEventListener("click", follow);
    return () => element?.removeEventListener("click", follow);
  }, [container, navigate]);
}
