import { unescapeHtml } from "./browser.ts";

const attribute = (tag: string, name: string) => new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
const shown = ["name", "type", "value", "href", "action", "placeholder", "aria-label", "maxlength", "list", "title"];
const flags = ["checked", "selected", "required", "disabled", "hidden", "open", "multiple"];
const told = new Set([
  "a",
  "button",
  "input",
  "textarea",
  "select",
  "option",
  "form",
  "details",
  "img",
  "h1",
  "h2",
  "h3",
]);

/**
 * The texts, links and fields of a page, one per line, so that two versions of it can be compared. Values that differ at
 * each run (tokens, times) are left out or replaced; ids are numbered in `ids` in the order of their first appearance.
 */
export function outline(html: string, ids: Map<string, number>): string {
  // Of a dialog it is given the dialog alone.
  const body = html.slice(Math.max(0, html.indexOf("<body"))).replace(/<(script|style|svg)[\s\S]*?<\/\1>/g, "");
  const lines = [...body.matchAll(/<(\w*)([^>]*)>|([^<]+)/g)].flatMap(([, name, attributes = "", text]) => {
    if (text) return text.trim() ? [text.replace(/\s+/g, " ").trim()] : [];
    if (!name || !told.has(name) || /name="(formToken|key)"/.test(attributes)) return [];
    const said = shown.flatMap((each) => {
      const value = attribute(attributes, each);
      return value === undefined ? [] : [`${each}=${value}`];
    });
    const set = flags.filter((flag) => new RegExp(`\\s${flag}(=|\\s|$)`).test(attributes));
    return [`<${[name, ...said, ...set].join(" ")}>`];
  });
  return steady(unescapeHtml(lines.join("\n")), ids);
}

/** A text without what differs at each run. */
export function steady(text: string, ids: Map<string, number>): string {
  return (
    text
      // First, as its letters may spell a word. Events are sealed a few seconds after they happen, with a key of this installation.
      .replace(/"B[\w-]{86}"/g, '"‹clave›"')
      .replace(/"x": "[\w-]{43}"/g, '"x": "‹clave›"')
      .replace(/"(seq|hash)": (null|\d+|"[\w-]{43}")/g, '"$1": ‹sello›')
      .replace(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, (id) => {
        if (!ids.has(id)) ids.set(id, ids.size + 1);
        return `‹id${ids.get(id)}›`;
      })
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d\.\d+Z)?/g, "‹momento›")
      .replace(/\b\d{1,2} (ene|feb|mar|abr|may|jun|jul|ago|sept?|oct|nov|dic)\w*( \d{4})?(, \d{1,2}:\d\d)?/g, "‹día›")
      .replace(/\b\d{1,2} de [a-z]+ de \d{4}/g, "‹día›")
      .replace(/quedan [\d,.]+ [GTM]B/g, "quedan ‹espacio›")
      // One o'clock takes another article.
      .replace(/\ba la (?=1:\d\d\b)/g, "a las ")
      .replace(/\b\d{1,2}:\d\d\b/g, "‹hora›")
      .replace(/hace (unos segundos|un minuto|\d+ \w+)|ahora mismo|^ahora$|hoy|ayer/gim, "‹hace poco›")
      .replace(/\b1[78]\d{8}\b/g, "‹momento›")
      .replace(/\b\d{1,2}\/\d{1,2}\/\d{2,4}/g, "‹día›")
      .replace(/\b\d{4}-\d\d-\d\d\b/g, "‹día›")
      .replace(/"month": "\d{4}-\d\d"/g, '"month": "‹mes›"')
      .replace(/Buen[oa]s (días|tardes|noches)/g, "‹saludo›")
      .replace(/Vuelve a cero [^.]*\./g, "Vuelve a cero ‹cuándo›.")
      .replace(
        /Tokens de (enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)/g,
        "Tokens de ‹mes›",
      )
      .replace(/eyJ[\w-]+\.[\w-]{86}/g, "‹recibo›")
      .replace(/http:\/\/127\.0\.0\.1:\d+/g, "‹aquí›")
      .replace(/(cursor|hasta|v|secret)=[\w-]+/g, "$1=…")
      .replace(/(name=secret type=hidden value=)\w+/, "$1…")
      .replace(/^([A-Z2-7]{4} ){7}[A-Z2-7]{4}$/m, "…")
      .replace(/\/compartido\/(escrito\/)?[\w-]+/g, "/compartido/$1‹enlace›")
  );
}
