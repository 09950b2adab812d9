import { safeReturn } from "./safe-return.server.ts";

/** The page that a form of the sidebar was sent from. */
export function pathOf(referer: string | null): string {
  const url = referer ? URL.parse(referer) : null;
  return url ? safeReturn(url.pathname + url.search) : "/conversation/chat";
}
