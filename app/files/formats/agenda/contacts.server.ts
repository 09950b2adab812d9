import {
  type Component,
  type ContentLine,
  componentsOf,
  partsOfValue,
  unescapedValue,
} from "./content-lines.server.ts";

/** The people of a vCard file with what is known of them; the text itself if it has none. */
export function contactsText(text: string): string {
  const cards = componentsOf(text).filter(({ name }) => name === "VCARD");
  return cards.length > 0 ? cards.map(cardText).join("\n\n") : text;
}

function cardText(card: Component): string {
  const rows = card.lines.flatMap((line) => {
    const field = fields[line.name];
    const value = field?.[1](line.value);
    return field && value ? [`${field[0]}${kindOf(line)}: ${value}`] : [];
  });
  return [`# ${nameOf(card)}`, ...rows].join("\n");
}

/** The name as it is shown; else its parts, the given name first; else the company. */
function nameOf({ lines }: Component): string {
  const said = (name: string) => lines.find((line) => line.name === name)?.value ?? "";
  const [family, given, more, before, after] = partsOfValue(said("N"));
  const parts = [before, given, more, family, after].filter(Boolean).join(" ");
  return plain(said("FN")) || parts || joined(said("ORG")) || "Sin nombre";
}

const plain = (value: string): string => unescapedValue(value).trim();
const joined = (value: string): string => partsOfValue(value).filter(Boolean).join(", ");
const phone = (value: string): string => plain(value).replace(/^tel:/i, "");

const dates = new Intl.DateTimeFormat("es", { dateStyle: "long", timeZone: "UTC" });
const anniversaries = new Intl.DateTimeFormat("es", { day: "numeric", month: "long", timeZone: "UTC" });

/** A date with or without its year. */
function day(value: string): string {
  const [, year, month, date] = /^(\d{4}|--)-?(\d\d)-?(\d\d)/.exec(value.trim()) ?? [];
  if (!year) return plain(value);
  const at = Date.UTC(year === "--" ? 2000 : Number(year), Number(month) - 1, Number(date));
  return (year === "--" ? anniversaries : dates).format(at);
}

const fields: Record<string, [label: string, read: (value: string) => string]> = {
  NICKNAME: ["Apodo", plain],
  ORG: ["Empresa", joined],
  TITLE: ["Cargo", plain],
  ROLE: ["Función", plain],
  TEL: ["Teléfono", phone],
  EMAIL: ["Correo", plain],
  ADR: ["Dirección", joined],
  URL: ["Página", plain],
  BDAY: ["Cumpleaños", day],
  ANNIVERSARY: ["Aniversario", day],
  CATEGORIES: ["Categorías", plain],
  NOTE: ["Nota", plain],
};

const kinds: Record<string, string> = {
  ...{ CELL: "móvil", HOME: "casa", WORK: "trabajo", FAX: "fax", PAGER: "busca", MAIN: "principal", IPHONE: "móvil" },
};

/** The kind of a phone or address in parentheses, with a blank before it; empty if the card does not say. */
function kindOf({ parameters }: ContentLine): string {
  const said = (parameters.TYPE ?? "").split(",").flatMap((type) => kinds[type.trim().toUpperCase()] ?? []);
  return said.length > 0 ? ` (${[...new Set(said)].join(", ")})` : "";
}
