/** Adds what protects every answer; pages get a CSP with their nonce. */
export function addHeaders(response: Response, request: Request, nonce: string): Response {
  const { headers } = response;
  headers.set("X-Content-Type-Options", "nosniff");
  // `no-referrer` makes script-less Chromium send `Origin: null` with forms.
  headers.set("Referrer-Policy", "same-origin");
  headers.set("X-Frame-Options", "DENY");
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cross-Origin-Resource-Policy", "same-origin");
  headers.set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()");
  if (new URL(request.url).protocol === "https:") headers.set("Strict-Transport-Security", "max-age=31536000");
  if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
  if (!headers.has("Content-Security-Policy")) headers.set("Content-Security-Policy", contentPolicy(nonce));
  return response;
}

/** The CSP of a page; without a nonce it allows no script. */
export function contentPolicy(nonce: string): string {
  const dev = import.meta.env?.DEV;
  return [
    "default-src 'none'",
    `script-src ${nonce ? `'nonce-${nonce}' 'strict-dynamic'` : "'none'"}`,
    // Vite injects styles while developing.
    `style-src 'self'${dev ? " 'unsafe-inline'" : ""}`,
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src 'self'${dev ? " ws:" : ""}`,
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
