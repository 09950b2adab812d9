import type { RouterContextProvider } from "react-router";
import { data } from "react-router";
import { ApiProblem } from "../../answers.server.ts";
import { formContext } from "../../context.ts";
import { type FormResult, textOf, typedFields } from "../../form.server.ts";
import { renderMarkdown } from "../../markdown/render.server.ts";
import {
  type Found,
  findReferred,
  isReference,
  pickedIn,
  readReferred,
  referred,
  resolveReference,
  sayReferred,
} from "./references.server.ts";
import type { Field, Item } from "./resource.server.ts";
import { fromLocal, knownZone, toLocal, zoneContext, zoneInWords } from "./zone.server.ts";

type Context = Readonly<RouterContextProvider>;
/** What a resource's form shows again: also a preview or a search that was asked for, and what somebody else has written meanwhile. */
export type ResourceResult = FormResult & {
  preview?: string;
  /** What a field may refer to. */
  found?: Record<string, Found[]>;
  /** Field by field, where the stored version is another than what was typed: as the form sends it, and in words. */
  theirs?: Record<string, { value: string; said: string }>;
  /** The version that a second try is made from. */
  version?: string;
};

/** The fields of a form as text, an item's or what a new one begins with; what it refers to by its name, the id beside it. */
export async function valuesOf(context: Context, fields: Field[], item?: Item): Promise<Record<string, string>> {
  const entries = fields.map(async ({ name, kind, initial }): Promise<[string, string][]> => {
    const value = item ? item[name] : initial;
    if (kind === "moment") return momentOf(name, value, context.get(zoneContext));
    if (value === null || value === undefined || kind === "secret") return [[name, ""]];
    if (!isReference(kind)) return [[name, String(value)]];
    const referredTo = await readReferred(context, kind, String(value));
    const said = referredTo ? sayReferred(kind, referredTo) : String(value);
    return [
      [name, said],
      [`for.${name}`, said],
      [`pick.${name}`, String(value)],
    ];
  });
  return Object.fromEntries((await Promise.all(entries)).flat());
}

/** A moment as it is shown, beside it the moment itself and the zone: the clock that it is read by may be another by then. */
function momentOf(name: string, value: unknown, zone: string): [string, string][] {
  const shown = typeof value === "string" ? toLocal(Date.parse(value), zone) : "";
  return [
    [name, shown],
    [`at.${name}`, shown && String(value)],
    [`zone.${name}`, zone],
  ];
}

/** What a moment's field says; untouched, it is what it was, to the millisecond. */
function readMoment(form: FormData, name: string, text: string): string | null {
  if (text === "") return null;
  const [at, zone] = [textOf(form, `at.${name}`), knownZone(textOf(form, `zone.${name}`))];
  return at && toLocal(Date.parse(at), zone) === text ? at : fromLocal(text, zone);
}

/** Fields as a form shows them: moments with the zone that they are in, a key with whether there is one. */
export const labelled = (context: Context, fields: Field[], item?: Item): Field[] =>
  fields.map((field) => {
    if (field.kind === "moment") return { ...field, label: `${field.label} (${zoneInWords(context)})` };
    if (field.name !== "apiKey" || !item?.hasKey) return field;
    const hint = item.keyLost
      ? "La clave que había no se puede leer con el secreto de ahora: escríbela otra vez."
      : "Ya hay una clave; escribe otra para cambiarla.";
    return { ...field, hint };
  });

/** Reads a form by its fields and sends it; what is refused is shown again with its sentences. */
export async function sendResource<Result>(
  context: Context,
  fields: Field[],
  send: (json: Record<string, unknown>, version: string) => Promise<Result>,
) {
  const form = context.get(formContext);
  const typed = { ...typedFields(form), ...(await picksIn(context, fields, form)) };
  for (const { name, kind } of fields) if (kind === "flag") typed[name] = String(form.has(name));
  const intent = textOf(form, "intent");
  const preview = fields.find(({ kind }) => kind === "markdown");
  if (intent === "preview" && preview) {
    return answer({ values: typed, errors: {}, preview: renderMarkdown(textOf(form, preview.name)) }, 200);
  }
  const sought = fields.find(({ name }) => intent === `find.${name}`);
  if (sought && isReference(sought.kind)) {
    const found = await findReferred(context, sought.kind, textOf(form, sought.name).trim(), form);
    return offer(
      typed,
      { [sought.name]: found },
      found.length === 0 ? { [sought.name]: referred[sought.kind].none } : {},
    );
  }
  const { json, found } = await jsonOf(context, fields, form);
  if (Object.keys(found).length > 0) {
    const errors = fields.flatMap(({ name, kind }): [string, string][] =>
      isReference(kind) && found[name]
        ? [[name, found[name].length > 0 ? "Hay varios: elige uno." : referred[kind].none]]
        : [],
    );
    return offer(typed, found, Object.fromEntries(errors));
  }
  try {
    return await send(json, textOf(form, "version"));
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.status === 404 || error.status >= 500) throw error;
    const { errors = {}, detail, current, status } = error.body;
    if (current) return conflict(context, fields, typed, current as Item, detail);
    const known = Object.fromEntries(
      Object.entries(errors).filter(([name]) => fields.some((field) => field.name === name)),
    );
    const message = Object.keys(known).length === 0 ? detail : undefined;
    return answer({ values: typed, errors: known, ...(message && { message }) }, status);
  }
}

/** What was picked, as the field's text: the choice itself is gone from the form's next page. */
async function picksIn(context: Context, fields: Field[], form: FormData): Promise<Record<string, string>> {
  const picked = fields.flatMap(({ name, kind }) => {
    const id = pickedIn(form, name);
    return isReference(kind) && id ? [{ name, kind, id }] : [];
  });
  const texts = picked.map(async ({ name, kind, id }): Promise<[string, string][]> => {
    const item = await readReferred(context, kind, id);
    const said = item ? sayReferred(kind, item) : textOf(form, name);
    return [
      [name, said],
      [`for.${name}`, said],
    ];
  });
  return Object.fromEntries((await Promise.all(texts)).flat());
}

/** The form again, with what its fields may refer to; what was picked before stands for another text. */
function offer(typed: Record<string, string>, found: Record<string, Found[]>, errors: Record<string, string>) {
  const values = { ...typed };
  for (const name of Object.keys(found)) {
    values[`for.${name}`] = typed[name] ?? "";
    delete values[`pick.${name}`];
  }
  return answer({ values, errors, found }, Object.keys(errors).length > 0 ? 422 : 200);
}

async function conflict(
  context: Context,
  fields: Field[],
  typed: Record<string, string>,
  current: Item,
  detail: string,
) {
  const stored = await valuesOf(context, fields, current);
  const theirs = Object.fromEntries(
    fields
      .filter(({ name, kind }) => kind !== "secret" && stored[name] !== (typed[name] ?? ""))
      .map(({ name, kind, choices }) => {
        const value = stored[name] ?? "";
        const said = kind === "flag" ? (value === "true" ? "Sí" : "No") : (choices?.[value] ?? value);
        return [name, { value: stored[`pick.${name}`] ?? value, said }];
      }),
  );
  return answer({ values: typed, errors: {}, message: detail, theirs, version: current.updatedAt }, 409);
}

const answer = (result: ResourceResult, status: number) => data(result, status);

/** The body that a form stands for; `found` has the fields of which it is not clear what they refer to. */
async function jsonOf(context: Context, fields: Field[], form: FormData) {
  const json: Record<string, unknown> = {};
  const found: Record<string, Found[]> = {};
  for (const field of fields) {
    const { name, kind } = field;
    // In a conflict, the stored value stands beside the field, and may be the one that is wanted.
    const stored = textOf(form, `keep.${name}`) === "theirs";
    const text = textOf(form, stored ? `theirs.${name}` : name).trim();
    if (kind === "flag") json[name] = stored ? text === "true" : form.has(name);
    else if (kind === "secret") {
      if (text) json[name] = text;
    } else if (kind === "number") json[name] = text === "" ? null : Number(text.replace(",", "."));
    else if (kind === "moment") json[name] = readMoment(form, name, text);
    else if (isReference(kind) && !stored) {
      const resolved = await resolveReference(context, { ...field, kind }, form);
      if ("id" in resolved) json[name] = resolved.id ?? (field.required ? "" : null);
      else found[name] = resolved.found;
    } else if (isReference(kind) || name === "baseUrl") json[name] = text || null;
    else json[name] = text;
  }
  return { json, found };
}
