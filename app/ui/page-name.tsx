import { useEffect, useRef } from "react";
import { useLocation } from "react-router";

/** Tells screen readers the name of a page that a link has opened without loading it, as the browser does of one that it loads. */
export function PageName() {
  const region = useRef<HTMLParagraphElement>(null);
  const { pathname } = useLocation();
  const told = useRef(pathname);
  useEffect(() => {
    if (told.current === pathname) return;
    told.current = pathname;
    if (region.current) region.current.textContent = document.title;
  }, [pathname]);
  return <p ref={region} className="sr-only" aria-live="polite" />;
}
