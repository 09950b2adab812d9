import { lives } from "./viewport.ts";

/** Tells the server in which time zone this browser is, for hours that are written and read by hand. */
export function keepTimeZone(): void {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not everywhere yet
  document.cookie = `zona=${encodeURIComponent(timeZone)}; Max-Age=${lives}; Path=/; SameSite=Strict`;
}
