// In a frame without an origin, reading `localStorage` or `document.cookie` throws, and many pages begin with that: theirs lasts as long as
// the page is open. A form or link that leads out would put the browser's error page in place of this one.
const surroundings = `<script>(() => {
  const kept = () => {
    const items = new Map();
    const own = {
      getItem: (key) => items.get(String(key)) ?? null,
      setItem: (key, value) => void items.set(String(key), String(value)),
      removeItem: (key) => void items.delete(String(key)),
      clear: () => items.clear(),
      key: (at) => [...items.keys()][at] ?? null,
    };
    return new Proxy(own, {
      get: (_, key) => (key in own ? own[key] : key === "length" ? items.size : items.get(key)),
      set: (_, key, value) => (items.set(key, String(value)), true),
      deleteProperty: (_, key) => (items.delete(key), true),
      ownKeys: () => [...items.keys()],
      getOwnPropertyDescriptor: (_, key) =>
        items.has(key) ? { value: items.get(key), enumerable: true, configurable: true } : undefined,
    });
  };
  for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, { value: kept() });
  Object.defineProperty(document, "cookie", { get: () => "", set: () => {} });
  HTMLFormElement.prototype.submit = () => {};
  addEventListener("submit", (event) => event.preventDefault());
  addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest("a[href]");
    if (!link || event.defaultPrevented || !/^(?:https?|mailto|tel):/.test(link.protocol)) return;
    if (link.href.split("#")[0] === location.href.split("#")[0]) return;
    event.preventDefault();
    const note = document.createElement("output");
    note.style.cssText = "position:fixed;inset:auto 0 0;padding:.5em;background:#222;color:#fff;font:1rem sans-serif";
    note.textContent = "Desde aquí no se sale. El enlace lleva a " + link.href;
    document.body.append(note);
    setTimeout(() => note.remove(), 6000);
  });
})()</script>`;

/** The page with these surroundings after its document type, without which it would be shown as pages of the nineties. */
export const withSurroundings = (page: string): string =>
  page.replace(/^(?:\s*<!doctype[^>]{0,500}>)?/i, (type) => `${type}${surroundings}`);
