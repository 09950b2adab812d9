/** Names that programs of models have, beside those of the language; a program may give them to its own variables. */
export const prelude = String.raw`
(() => {
const said = (one) => typeof one === "object" && one !== null ? JSON.stringify(one) : String(one);
const print = (...values) => __print(values.map(said).join(" "));
const archivos = JSON.parse(__archivos).map((one, n) => ({
  ...one,
  get filas() {
    const filas = JSON.parse(__filas(n));
    Object.defineProperty(this, "filas", { value: filas });
    return filas;
  },
}));
const archivo = (nombre) => {
  const wanted = String(nombre).toLowerCase();
  const found = archivos.find((one) => one.nombre === nombre) ?? archivos.find((one) => one.nombre.toLowerCase().includes(wanted));
  if (!found) throw new Error("No hay ningún archivo «" + nombre + "». Hay: " + archivos.map((one) => one.nombre).join(", "));
  if (found.texto === null) throw new Error("«" + found.nombre + "» es demasiado grande para un programa, o no cabe con los demás.");
  return found;
};
const money = "(?:€|\\$|£|EUR|USD|euros?)";
const written = new RegExp("^(\\()?([+-]?)" + money + "?(\\d[\\d.,]*|[.,]\\d+)(e[+-]?\\d+)?(?:" + money + "|%)?\\.?(-)?\\)?$", "i");
const numero = (valor) => {
  if (typeof valor === "number") return valor;
  const [, bracket, sign, digits, power = "", after] = written.exec(String(valor ?? "").replace(/\u2212/g, "-").replace(/[\s']/g, "")) ?? [];
  if (digits === undefined) return NaN;
  const spanish = /^[1-9]\d{0,2}(\.\d{3})+(,\d*)?$/.test(digits);
  const english = /^[1-9]\d{0,2}((,\d{3})+\.\d*|(,\d{3}){2,})$/.test(digits);
  const simple = /^\d*[.,]?\d*$/.test(digits);
  if (!spanish && !english && !simple) return NaN;
  const plain = english ? digits.replace(/,/g, "") : (spanish ? digits.replace(/\./g, "") : digits).replace(",", ".");
  return Number(plain + power) * (bracket || after || sign === "-" ? -1 : 1);
};
const numeros = (filas, campo) =>
  filas.flatMap((fila, n) => {
    const cell = campo === undefined ? fila : fila[campo];
    if (String(cell ?? "").trim() === "") return [];
    const number = numero(cell);
    if (Number.isNaN(number)) throw new Error("«" + cell + "» (fila " + (n + 1) + ") no es un número: quítala antes con filter().");
    return [number];
  });
const suma = (filas, campo) => numeros(filas, campo).reduce((sum, one) => sum + one, 0);
const media = (filas, campo) => {
  const all = numeros(filas, campo);
  return suma(all) / all.length;
};
const agrupar = (filas, campo) => {
  const groups = Object.create(null);
  for (const fila of filas) (groups[fila[campo]] ??= []).push(fila);
  return groups;
};
const tabla = (filas) => {
  if (filas.length === 0) return print("(sin filas)");
  const names = Object.keys(filas[0]);
  const row = (cells) => "| " + cells.map((one) => said(one ?? "").replace(/\s+/g, " ").replace(/\|/g, "\\|")).join(" | ") + " |";
  print([row(names), row(names.map(() => "---")), ...filas.map((fila) => row(names.map((name) => fila[name])))].join("\n"));
};
const cell = (one) => {
  const text = typeof one === "number" ? String(one).replace(".", ",") : said(one ?? "");
  return /[";\n\r]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
};
const csv = (filas) => {
  const names = Object.keys(filas[0]);
  return [names, ...filas.map((fila) => names.map((name) => fila[name]))].map((cells) => cells.map(cell).join(";")).join("\n");
};
const isRows = (one) => Array.isArray(one) && one.length > 0 && one.every((fila) => typeof fila === "object" && fila !== null && !Array.isArray(fila));
const guardar = (nombre, contenido) => {
  const name = String(nombre ?? "").trim();
  if (!name) throw new Error("guardar('nombre.csv', contenido) necesita un nombre");
  const text = isRows(contenido) && !/\.json$/i.test(name) ? csv(contenido) : typeof contenido === "object" && contenido !== null ? JSON.stringify(contenido, null, 2) : String(contenido ?? "");
  if (!text.trim() || contenido?.length === 0) throw new Error("«" + name + "» está vacío");
  const refused = __guardar(name, text);
  if (refused) throw new Error("«" + name + "»: " + refused);
};
const console = { log: print, error: print, warn: print, info: print };
Object.assign(globalThis, { print, archivos, archivo, numero, suma, media, agrupar, tabla, guardar, console });
})();
`;
