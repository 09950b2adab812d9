/** Adds the protective headers of every answer; pages get a CSP with their nonce. */
export function addHeaders(response: Response, request: Request, nonce: string): Response {
  const { headers } = response;
  headers.set("X-Content-Type-Options", "nosniff");
  // `no-referrer` makes script-less Chromium send `Origin: null` with forms.
  headers.set("Referrer-Policy", "same-origin");
  // Older browsers know only this header; newer ones follow the CSP, which lets our own pages frame some pages.
  const isFramed = headers.get("Content-Security-Policy")?.includes("frame-ancestors 'self'");
  headers.set("X-Frame-Options", isFramed ? "SAMEORIGIN" : "DENY");
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cross-Origin-Resource-Policy", "same-origin");
  // The client hints that decide whether pages are light; only Chromium sends them.
  headers.set("Accept-CH", "ECT, Sec-CH-Prefers-Reduced-Data");
  headers.set("Permissions-Policy", "camera=(), geolocation=(), microphone=(self), payment=(), usb=()");
  const { protocol, pathname } = new URL(request.url);
  // Also for files: a page says so itself.
  if (pathname.startsWith("/compartido/")) headers.set("X-Robots-Tag", "noindex");
  if (protocol === "https:") headers.set("Strict-Transport-Security", "max-age=31536000");
  if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
  if (!headers.has("Content-Security-Policy"))
    headers.set("Content-Security-Policy", contentPolicy({ scripts: nonce || undefined }));
  return response;
}

type Allowed = { scripts: string | undefined; styles?: string | undefined; frames?: boolean; framed?: boolean };

/**
 * The CSP of a page. `scripts`: nonce of its scripts; without a nonce, none is allowed. `styles`: nonce of the styles within the page.
 * `frames`: the page has frames with pages of this site; `framed`: pages of this site may show the page in a frame.
 */
export function contentPolicy({ scripts, styles, frames = false, framed = false }: Allowed): string {
  const dev = import.meta.env?.DEV;
  return [
    "default-src 'none'",
    `script-src ${scripts ? `'nonce-${scripts}' 'strict-dynamic'` : "'none'"}`,
    // Vite injects styles while developing.
    `style-src 'self'${styles ? ` 'nonce-${styles}'` : ""}${dev ? " 'unsafe-inline'" : ""}`,
    "img-src 'self' data:",
    "media-src 'self'",
    "font-src 'self'",
    `connect-src 'self'${dev ? " ws:" : ""}`,
    "manifest-src 'self'",
    "worker-src 'self'",
    ...(frames ? ["frame-src 'self'"] : []),
    "form-action 'self'",
    "base-uri 'none'",
    `frame-ancestors ${framed ? "'self'" : "'none'"}`,
  ].join("; ");
}
