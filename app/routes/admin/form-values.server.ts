import type { RouterContextProvider } from "react-router";
import { data } from "react-router";
import { ApiProblem, read } from "../../answers.server.ts";
import { apiContext, formContext } from "../../context.ts";
import { type FormResult, textOf, typedFields } from "../../form.server.ts";
import { limits } from "../../limits.ts";
import { renderMarkdown } from "../../markdown/render.server.ts";
import { type Field, type Item, resourceOf } from "./resource.server.ts";

type Context = Readonly<RouterContextProvider>;
/** What a resource's form shows again: also the preview that was asked for, and what somebody else has written meanwhile. */
export type ResourceResult = FormResult & {
  preview?: string;
  /** Field by field, where the stored version is another than what was typed. */
  theirs?: Record<string, string>;
  /** The version that a second try is made from. */
  version?: string;
};

/** The fields of a form as text, an item's or what a new one begins with; people by their address. */
export async function valuesOf(context: Context, fields: Field[], item?: Item): Promise<Record<string, string>> {
  const entries = fields.map(async (field): Promise<[string, string]> => {
    const value = item ? item[field.name] : field.initial;
    if (value === null || value === undefined || field.kind === "secret") return [field.name, ""];
    if (field.kind === "moment") return [field.name, String(value).slice(0, 16)];
    if (field.kind === "person") return [field.name, await addressOf(context, String(value))];
    return [field.name, String(value)];
  });
  return Object.fromEntries(await Promise.all(entries));
}

async function addressOf(context: Context, id: string): Promise<string> {
  const user = await read(resourceOf(context, "user").api[":id"].$get({ param: { id } }));
  return String(user.email);
}

/** What the choices of a form are that come from other lists. */
export async function choicesOf(context: Context, fields: Field[]) {
  const { api } = context.get(apiContext);
  const people = fields.some(({ kind }) => kind === "person")
    ? (await read(resourceOf(context, "user").api.$get({ query: { limit: String(limits.listMax) } }))).items
    : [];
  const projects = fields.some(({ kind }) => kind === "project")
    ? (await read(api.project.$get({ query: { limit: String(limits.listMax) } }))).items
    : [];
  return {
    people: people.map(({ email, name }) => ({ email: String(email), name: String(name) })),
    projects: projects.map(({ id, name }) => ({ id, name })),
  };
}

/** Reads a form by its fields and sends it; what is refused is shown again with its sentences. */
export async function sendResource<Result>(
  context: Context,
  fields: Field[],
  send: (json: Record<string, unknown>, version: string) => Promise<Result>,
) {
  const form = context.get(formContext);
  const typed = typedFields(form);
  for (const { name, kind } of fields) if (kind === "flag") typed[name] = String(form.has(name));
  const preview = fields.find(({ kind }) => kind === "markdown");
  if (textOf(form, "intent") === "preview" && preview) {
    return answer({ values: typed, errors: {}, preview: renderMarkdown(textOf(form, preview.name)) }, 200);
  }
  try {
    return await send(await jsonOf(context, fields, form), textOf(form, "version"));
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
      .map(({ name }) => [name, stored[name] ?? ""]),
  );
  return answer({ values: typed, errors: {}, message: detail, theirs, version: current.updatedAt }, 409);
}

const answer = (result: ResourceResult, status: number) => data(result, status);

async function jsonOf(context: Context, fields: Field[], form: FormData): Promise<Record<string, unknown>> {
  const json: Record<string, unknown> = {};
  for (const { name, kind } of fields) {
    // In a conflict, the stored value stands beside the field, and may be the one that is wanted.
    const stored = textOf(form, `keep.${name}`) === "theirs";
    const text = textOf(form, stored ? `theirs.${name}` : name).trim();
    if (kind === "flag") json[name] = stored ? text === "true" : form.has(name);
    else if (kind === "secret") {
      if (text) json[name] = text;
    } else if (kind === "number") json[name] = text === "" ? null : Number(text.replace(",", "."));
    else if (kind === "moment") json[name] = text === "" ? null : `${text}${text.length === 16 ? ":00" : ""}Z`;
    else if (kind === "person") json[name] = await idOf(context, text);
    else if (kind === "project" || name === "baseUrl") json[name] = text || null;
    else json[name] = text;
  }
  return json;
}

/** The account with an address; what is none is left for the API to refuse. */
async function idOf(context: Context, address: string): Promise<string> {
  if (!address.includes("@")) return address;
  const { items } = await read(resourceOf(context, "user").api.$get({ query: { q: address, limit: "10" } }));
  return items.find(({ email }) => String(email).toLowerCase() === address.toLowerCase())?.id ?? address;
}
