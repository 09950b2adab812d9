import { useEffect, useRef } from "react";
import { useLocation } from "react-router";

/** Announces the title after a client navigation, as browsers do for loaded documents. */
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
