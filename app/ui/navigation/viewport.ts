// In CSS px, widest first; narrower than all of them falls back to lg.
export const breakpoints = { "2xl": 1536, xl: 1280, lg: 1024, md: 768, sm: 640, xs: 320 };
export const fallback = "lg";
export const lives = 365 * 24 * 60 * 60;

/** Stores the name of the window's breakpoint in the cookie `viewport`, and updates it when the width changes. */
export function keepViewport(): void {
  const write = () => {
    const name = Object.entries(breakpoints).find(([, width]) => innerWidth >= width)?.[0] ?? fallback;
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not everywhere yet
    document.cookie = `viewport=${name}; Max-Age=${lives}; Path=/; SameSite=Strict; Secure`;
  };
  write();
  for (const width of Object.values(breakpoints)) {
    matchMedia(`(width >= ${width}px)`).addEventListener("change", write);
  }
}
