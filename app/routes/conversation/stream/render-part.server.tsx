import type { ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { StaticRouter } from "react-router";

/** A part of a page as HTML, for a reply that grows beside the page's own rendering. */
export const renderPart = (part: ReactNode): string =>
  renderToStaticMarkup(<StaticRouter location="/">{part}</StaticRouter>);
