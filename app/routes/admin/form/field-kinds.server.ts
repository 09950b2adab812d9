import { knownZone } from "../../../process/time-zones.server.ts";
import type { Context } from "../../../web/context.ts";
import { textOf } from "../../../web/forms/form.server.ts";
import type { Field } from "../descriptions/description.ts";
import type { Reference } from "../descriptions/reference.ts";
import { type FoundReference, readReferred, resolveReference, sayReferred } from "../resources/references.server.ts";
import { fromLocal, toLocal, zoneContext } from "../zone.server.ts";
import { hidden } from "./hidden-fields.ts";

/** The decoded value of a reference field whose text matches several items, or none. */
export class Candidates {
  readonly found: FoundReference[];
  constructor(found: FoundReference[]) {
    this.found = found;
  }
}

/** `text`: text of the field; `kept`: this text is the stored value, chosen after a conflict. */
type Sent = { context: Context; form: FormData; field: Field; text: string; kept: boolean };

type KindRules = {
  /** The form fields that show a value, the hidden ones included. */
  encode?(context: Context, name: string, value: string): Promise<Record<string, string>>;
  /** The value that the API gets; undefined leaves the field out. */
  decode(sent: Sent): unknown;
};

const plain: KindRules = { decode: ({ field, text }) => (field.nullable ? text || null : text) };

const moment: KindRules = {
  async encode(context, name, value) {
    const zone = context.get(zoneContext);
    return {
      [name]: value && toLocal(Date.parse(value), zone),
      [hidden.moment(name)]: value,
      [hidden.zone(name)]: zone,
    };
  },
  // An unchanged text stands for the exact moment in the hidden field.
  decode({ form, field: { name }, text }) {
    if (text === "") return null;
    const exact = textOf(form, hidden.moment(name));
    const zone = knownZone(textOf(form, hidden.zone(name)));
    return exact && toLocal(Date.parse(exact), zone) === text ? exact : fromLocal(text, zone);
  },
};

/** A reference is shown by its name; its id stands in a hidden field. */
const reference = (kind: Reference): KindRules => ({
  async encode(context, name, value) {
    if (!value) return { [name]: "" };
    const item = await readReferred(context, kind, value);
    const said = item ? sayReferred(kind, item) : value;
    return { [name]: said, [hidden.pickedFor(name)]: said, [hidden.picked(name)]: value };
  },
  async decode({ context, form, field, text, kept }) {
    if (kept) return text || null;
    const resolved = await resolveReference(context, { ...field, kind }, form);
    if ("found" in resolved) return new Candidates(resolved.found);
    return resolved.id ?? (field.required ? "" : null);
  },
});

const kinds: Record<NonNullable<Field["kind"]>, KindRules> = {
  text: plain,
  area: plain,
  markdown: plain,
  choice: plain,
  flag: { decode: ({ form, field, text, kept }) => (kept ? text === "true" : form.has(field.name)) },
  number: { decode: ({ text }) => (text === "" ? null : Number(text.replace(",", "."))) },
  // A stored secret is never sent to the browser; an empty field leaves it unchanged.
  secret: { encode: async (_context, name) => ({ [name]: "" }), decode: ({ text }) => text || undefined },
  moment,
  person: reference("person"),
  chat: reference("chat"),
  message: reference("message"),
  project: reference("project"),
  model: reference("model"),
  group: reference("group"),
  // The value has one id a line; no id: for everybody.
  groups: {
    decode({ form, field, text, kept }) {
      const ids = kept ? text.split("\n").filter(Boolean) : form.getAll(field.name);
      return ids.length > 0 ? ids : null;
    },
  },
};

/** The form fields of one described field for a value of the API. */
export async function encodeField(context: Context, { name, kind = "text" }: Field, value: unknown) {
  const text = Array.isArray(value) ? value.join("\n") : value === null || value === undefined ? "" : String(value);
  return kinds[kind].encode?.(context, name, text) ?? { [name]: text };
}

/** The value of one described field in a form, or candidates for it. */
export function decodeField(context: Context, field: Field, form: FormData): unknown {
  const kept = textOf(form, hidden.keep(field.name)) === "theirs";
  const text = textOf(form, kept ? hidden.theirs(field.name) : field.name).trim();
  return kinds[field.kind ?? "text"].decode({ context, form, field, text, kept });
}
