import { cutText } from "../../../process/text/cut-text.ts";
import { ApiProblem, read } from "../../../web/api-result.server.ts";
import type { Context } from "../../../web/context.ts";
import { textOf } from "../../../web/forms/form.server.ts";
import type { Field, Item } from "../descriptions/description.ts";
import { isReference, type Reference, referred } from "../descriptions/reference.ts";
import { hidden } from "../form/hidden-fields.ts";
import { resourceOf } from "./resource.server.ts";

/** A candidate for a reference field: its text in the field, and a hint to tell it from others. */
export type FoundReference = { id: string; said: string; detail: string };

const shownAtMost = 10;
const longest = 60;

/** The text of an item in a field: a person's address, otherwise a name. */
export function sayReferred(kind: Reference, item: Item): string {
  const text = String((kind === "person" ? item.email : (item.name ?? item.title ?? item.content)) ?? "");
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > longest ? `${cutText(line, longest)}…` : line;
}

/** The item with that id, as far as it may be read; undefined if it is gone. */
export async function readReferred(context: Context, kind: Reference, id: string): Promise<Item | undefined> {
  try {
    return await read(resourceOf(context, referred[kind].path).read({ param: { id } }));
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return undefined;
    // The item can be read only after a stated purpose.
    if (error instanceof ApiProblem && error.status === 403) return { id, name: "De otra persona" };
    throw error;
  }
}

/** Candidates for a typed text; the newest items for an empty one. Messages are searched within the chosen chat. */
export async function findReferred(
  context: Context,
  kind: Reference,
  typed: string,
  form: FormData,
): Promise<FoundReference[]> {
  const chatId = kind === "message" ? textOf(form, hidden.picked("chatId")) : "";
  const query = {
    limit: String(shownAtMost),
    ...(typed && { q: typed }),
    ...(chatId && { filter: JSON.stringify({ chatId }) }),
  };
  const { items } = await read(resourceOf(context, referred[kind].path).list({ query }));
  const date = new Intl.DateTimeFormat("es", { dateStyle: "medium", timeZone: "UTC" });
  return items.map((item) => ({
    id: item.id,
    said: sayReferred(kind, item),
    detail: kind === "person" ? String(item.name) : date.format(Date.parse(String(item.createdAt))),
  }));
}

// As many as a browser shows comfortably; others are found with «Buscar».
const suggestedAtMost = 100;

/** Suggestions (datalist) for reference fields. Messages and chats get none: they are too many and too similar. */
export async function suggestionsFor(context: Context, fields: Field[]): Promise<Record<string, string[]>> {
  const offered = fields.flatMap(({ name, kind }) =>
    isReference(kind) && kind !== "message" && kind !== "chat" ? [{ name, kind }] : [],
  );
  const lists = offered.map(async ({ name, kind }): Promise<[string, string[]]> => {
    const { items } = await read(
      resourceOf(context, referred[kind].path).list({ query: { limit: String(suggestedAtMost) } }),
    );
    return [name, [...new Set(items.map((item) => sayReferred(kind, item)))]];
  });
  return Object.fromEntries(await Promise.all(lists));
}

/** Id of the row picked for a field; empty if the text was changed after the search. */
export function pickedIn(form: FormData, name: string): string {
  return textOf(form, name).trim() === textOf(form, hidden.pickedFor(name)).trim()
    ? textOf(form, hidden.picked(name))
    : "";
}

/** Resolves a field's text to an id, or to candidates if it is ambiguous. Empty text refers to nothing. */
export async function resolveReference(
  context: Context,
  { name, kind }: Field & { kind: Reference },
  form: FormData,
): Promise<{ id: string | null } | { found: FoundReference[] }> {
  const typed = textOf(form, name).trim();
  const picked = pickedIn(form, name);
  if (picked) return { id: picked };
  if (typed === "") return { id: null };
  if (/^[\da-f-]{36}$/.test(typed)) return { id: typed };
  const found = await findReferred(context, kind, typed, form);
  const same = found.filter(({ said }) => said.toLowerCase() === typed.toLowerCase());
  const [only] = same.length > 0 ? same : found;
  return only && (same.length === 1 || found.length === 1) ? { id: only.id } : { found };
}
