/** Names that programs of models have, beside those of the language. */
export const prelude = `
const print = (...values) => __print(values.map((one) => typeof one === "string" ? one : JSON.stringify(one)).join(" "));
const console = { log: print, error: print, warn: print, info: print };
const archivos = JSON.parse(__archivos);
const archivo = (nombre) => {
  const found = archivos.find((one) => one.nombre === nombre) ?? archivos.find((one) => one.nombre.toLowerCase().includes(String(nombre).toLowerCase()));
  if (!found) throw new Error("No hay ningún archivo «" + nombre + "». Hay: " + archivos.map((one) => one.nombre).join(", "));
  return found;
};
const numero = (valor) => {
  if (typeof valor === "number") return valor;
  const plain = String(valor ?? "").replace(/[^0-9.,+-]/g, "");
  const comma = plain.lastIndexOf(","), point = plain.lastIndexOf(".");
  const spanish = comma > point || (comma < 0 && /^[+-]?[1-9]\\d{0,2}(\\.\\d{3})+$/.test(plain));
  const number = Number(spanish ? plain.replace(/\\./g, "").replace(",", ".") : plain.replace(/,/g, ""));
  return plain === "" ? NaN : number;
};
const suma = (filas, campo) => filas.reduce((sum, fila) => sum + (numero(campo === undefined ? fila : fila[campo]) || 0), 0);
const media = (filas, campo) => suma(filas, campo) / filas.length;
const agrupar = (filas, campo) => {
  const groups = {};
  for (const fila of filas) (groups[fila[campo]] ??= []).push(fila);
  return groups;
};
const tabla = (filas) => {
  if (filas.length === 0) return print("(sin filas)");
  const names = Object.keys(filas[0]);
  const row = (cells) => "| " + cells.map((one) => String(one ?? "").replace(/\\|/g, "\\\\|")).join(" | ") + " |";
  print([row(names), row(names.map(() => "---")), ...filas.map((fila) => row(names.map((name) => fila[name])))].join("\\n"));
};
`;
