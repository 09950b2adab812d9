import type { RouterContextProvider } from "react-router";
import { ApiProblem, read } from "../../answers.server.ts";
import { textOf } from "../../form.server.ts";
import { type Field, type Item, resourceOf } from "./resource.server.ts";

type Context = Readonly<RouterContextProvider>;
/** Something that a field may refer to: what is written in the field for it, and what tells it from others. */
export type Found = { id: string; said: string; detail: string };

/** The resource that each kind of reference is looked for in, and what is said where there is none. */
export const referred = {
  person: { path: "user", none: "Esa persona no existe." },
  chat: { path: "chat", none: "Esa conversación no existe." },
  message: { path: "message", none: "Ese mensaje no existe." },
  project: { path: "project", none: "Ese proyecto no existe." },
  model: { path: "model", none: "Ese modelo no existe." },
} as const;
export type Reference = keyof typeof referred;

export const isReference = (kind: string | undefined): kind is Reference => kind !== undefined && kind in referred;

const shownAtMost = 10;
const longest = 60;

/** What is written in a field for an item: a person's address, otherwise a name. */
export function sayReferred(kind: Reference, item: Item): string {
  const text = String((kind === "person" ? item.email : (item.name ?? item.title ?? item.content)) ?? "");
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > longest ? `${line.slice(0, longest).toWellFormed()}…` : line;
}

/** The item of an id; undefined for what is gone. */
export async function readReferred(context: Context, kind: Reference, id: string): Promise<Item | undefined> {
  try {
    return await read(resourceOf(context, referred[kind].path).api[":id"].$get({ param: { id } }));
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return undefined;
    throw error;
  }
}

/** What somebody may mean by what they typed into a field; by nothing, the newest. A message is looked for in the chat chosen beside it. */
export async function findReferred(context: Context, kind: Reference, typed: string, form: FormData): Promise<Found[]> {
  const chatId = kind === "message" ? textOf(form, "pick.chatId") : "";
  const query = {
    limit: String(shownAtMost),
    ...(typed && { q: typed }),
    ...(chatId && { filter: JSON.stringify({ chatId }) }),
  };
  const { items } = await read(resourceOf(context, referred[kind].path).api.$get({ query }));
  const date = new Intl.DateTimeFormat("es", { dateStyle: "medium", timeZone: "UTC" });
  return items.map((item) => ({
    id: item.id,
    said: sayReferred(kind, item),
    detail: kind === "person" ? String(item.name) : date.format(Date.parse(String(item.createdAt))),
  }));
}

/** What was picked for a field; it stands for the text that it was found by, and for no other. */
export function pickedIn(form: FormData, name: string): string {
  return textOf(form, name).trim() === textOf(form, `for.${name}`).trim() ? textOf(form, `pick.${name}`) : "";
}

/** What a field's text refers to: an id, or what there is to choose from where that is not clear. Empty text refers to nothing. */
export async function resolveReference(
  context: Context,
  { name, kind }: Field & { kind: Reference },
  form: FormData,
): Promise<{ id: string | null } | { found: Found[] }> {
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
