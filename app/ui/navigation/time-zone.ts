import { lives } from "./viewport.ts";

/** Sets the cookie with the browser's time zone, so that the server can show and read local times. */
export function keepTimeZone(): void {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not everywhere yet
  document.cookie = `zona=${encodeURIComponent(timeZone)}; Max-Age=${lives}; Path=/; SameSite=Strict`;
}
