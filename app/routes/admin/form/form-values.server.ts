import { data } from "react-router";
import { renderSafely } from "../../../markdown/rendered.server.ts";
import { listOf, recordOf } from "../../../process/text/json.ts";
import { refusalIn } from "../../../web/api-result.server.ts";
import { type Context, formContext } from "../../../web/context.ts";
import { type FormResult, textOf } from "../../../web/forms/form.server.ts";
import { typedFields } from "../../../web/forms/unsent-form.server.ts";
import { groupChoices } from "../../../web/groups.server.ts";
import type { AnyAdminResource, Field, Item } from "../descriptions/description.ts";
import { isReference, referred } from "../descriptions/reference.ts";
import { type FoundReference, findReferred, pickedIn } from "../resources/references.server.ts";
import { zoneInWords } from "../zone.server.ts";
import { Candidates, decodeField, encodeField } from "./field-kinds.server.ts";
import { hidden } from "./hidden-fields.ts";
import { type Rules, rulesOf } from "./rules.server.ts";

/** The result of a resource form: values and errors, a preview or search results, and the stored version after a conflict. */
export type ResourceResult = FormResult & {
  preview?: string;
  /** Search results for reference fields. */
  found?: Record<string, FoundReference[]>;
  /** The stored value of each field that differs from it, as a form field and in words. */
  theirs?: Record<string, { value: string; said: string }>;
  /** Set when a preset has filled fields. */
  filled?: string;
  /** The version for the next attempt (If-Match). */
  version?: string;
};

/** Form fields with the values of an item, or with the initial values of a new item. */
export async function valuesOf(
  context: Context,
  fields: Field[],
  item?: Record<string, unknown>,
): Promise<Record<string, string>> {
  const encoded = fields.map((field) => {
    const initial = field.initial === "now" ? new Date().toISOString() : field.initial;
    return encodeField(context, field, item ? item[field.name] : initial);
  });
  return Object.assign({}, ...(await Promise.all(encoded)));
}

/** A field with the rules of the API and, if groups are chosen in it, with all groups. */
export type ShownField = Field & { rules: Rules };

/** Fields for display: moments have their zone in the label, secrets a hint if one is stored. */
export async function labelled(
  context: Context,
  resource: AnyAdminResource,
  fields: Field[],
  item?: Item,
): Promise<ShownField[]> {
  const rules = await rulesOf(context, resource);
  const groups = fields.some(({ kind }) => kind === "groups") ? await groupsFor(context, fields, item) : {};
  return fields.map((described) => {
    const own = { ...described, rules: rules[described.name] ?? {} };
    if (own.kind === "groups") return { ...own, choices: groups };
    const field = item && own.editHint ? { ...own, hint: own.editHint } : own;
    if (field.kind === "moment") return { ...field, label: `${field.label} (${zoneInWords(context)})` };
    if (!field.stored || !item?.[field.stored.is]) return field;
    const hint = item[field.stored.lost ?? ""]
      ? "La clave que había no se puede leer con el secreto de ahora: escríbela otra vez."
      : "Ya hay una clave; escribe otra para cambiarla.";
    return { ...field, hint };
  });
}

/** Names of groups by their ids: all groups, and those that the item is for. */
async function groupsFor(context: Context, fields: Field[], item: Item | undefined): Promise<Record<string, string>> {
  const ids = fields.flatMap(({ name, kind }) => (kind === "groups" ? listOf(item?.[name]).map(String) : []));
  return Object.fromEntries((await groupChoices(context, ids)).map(({ id, name }) => [id, name]));
}

/** Reads a form and sends it to the API; returns errors for display. */
export async function sendResource<Result>(
  context: Context,
  { presets = [] }: AnyAdminResource,
  fields: Field[],
  send: (json: Record<string, unknown>, version: string) => Promise<Result>,
) {
  const form = context.get(formContext);
  const typed = { ...typedFields(form), ...(await picksIn(context, fields, form)) };
  for (const { name, kind } of fields) {
    if (kind === "flag") typed[name] = String(form.has(name));
    if (kind === "groups") typed[name] = form.getAll(name).join("\n");
  }
  const intent = textOf(form, "intent");
  const preview = fields.find(({ kind }) => kind === "markdown");
  if (intent === "preview" && preview) {
    return answer(
      { values: typed, errors: {}, preview: await renderSafely(textOf(form, preview.name), "administration") },
      200,
    );
  }
  const preset = presets.find(({ name }) => intent === `preset.${name}`);
  if (preset)
    return answer({ values: { ...typed, ...preset.values }, errors: {}, filled: new Date().toISOString() }, 200);
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
    const { errors = {}, detail, current, status } = refusalIn(error);
    const stored = recordOf(current);
    if (stored) return conflict(context, fields, typed, stored, detail);
    const known = Object.fromEntries(
      Object.entries(errors).filter(([name]) => fields.some((field) => field.name === name)),
    );
    const message = Object.keys(known).length === 0 ? detail : undefined;
    return answer({ values: typed, errors: known, ...(message && { message }) }, status);
  }
}

/** The form values of reference fields, from the items that were picked in them. */
async function picksIn(context: Context, fields: Field[], form: FormData): Promise<Record<string, string>> {
  const picked = fields.filter(({ name, kind }) => isReference(kind) && pickedIn(form, name));
  const encoded = picked.map((field) => encodeField(context, field, pickedIn(form, field.name)));
  return Object.assign({}, ...(await Promise.all(encoded)));
}

/** The form with search results; an earlier pick belongs to an earlier text and is dropped. */
function offer(typed: Record<string, string>, found: Record<string, FoundReference[]>, errors: Record<string, string>) {
  const values = { ...typed };
  for (const name of Object.keys(found)) {
    values[hidden.pickedFor(name)] = typed[name] ?? "";
    delete values[hidden.picked(name)];
  }
  return answer({ values, errors, found }, Object.keys(errors).length > 0 ? 422 : 200);
}

async function conflict(
  context: Context,
  fields: Field[],
  typed: Record<string, string>,
  current: Record<string, unknown>,
  detail: string,
) {
  const stored = await valuesOf(context, fields, current);
  const theirs = Object.fromEntries(
    fields
      .filter(({ name, kind }) => kind !== "secret" && stored[name] !== (typed[name] ?? ""))
      .map(({ name, kind, choices }) => {
        const value = stored[name] ?? "";
        const said = kind === "flag" ? (value === "true" ? "Sí" : "No") : wordsOf(value, choices);
        return [name, { value: stored[hidden.picked(name)] ?? value, said }];
      }),
  );
  return answer({ values: typed, errors: {}, message: detail, theirs, version: String(current.updatedAt) }, 409);
}

/** A value in words; several values, one a line, are joined with commas. */
const wordsOf = (value: string, choices: Record<string, string> = {}): string =>
  value
    .split("\n")
    .map((one) => choices[one] ?? one)
    .join(", ");

const answer = (result: ResourceResult, status: number) => data(result, status);

/** The request body of a form. `found`: reference fields whose text is ambiguous, with candidates. */
async function jsonOf(context: Context, fields: Field[], form: FormData) {
  const json: Record<string, unknown> = {};
  const found: Record<string, FoundReference[]> = {};
  for (const field of fields) {
    const value = await decodeField(context, field, form);
    if (value instanceof Candidates) found[field.name] = value.found;
    else if (value !== undefined) json[field.name] = value;
  }
  return { json, found };
}
