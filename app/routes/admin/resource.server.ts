import type { RouterContextProvider } from "react-router";
import { data } from "react-router";
import { apiContext } from "../../context.ts";
import type { Reference } from "./references.server.ts";
import { resources } from "./resources.server.ts";

type Choices = Record<string, string>;
type Kind = "text" | "number" | "flag" | "moment" | "choice" | "changes" | Reference;

/** What a list shows of an item, and how. The first column leads to the item. */
export type Column = {
  name: string;
  label: string;
  kind?: Kind;
  choices?: Choices;
  sorted?: boolean;
  hidden?: boolean;
};

/** An input of a form. Labels and kinds only: what may be written is the API's to say. */
export type Field = {
  name: string;
  label: string;
  kind?: "text" | "area" | "markdown" | "number" | "flag" | "choice" | "secret" | "moment" | Reference;
  hint?: string;
  choices?: Choices;
  required?: boolean;
  /** Only where something is made, or only where it is changed. */
  only?: "create" | "edit";
  /** What it stands at where something is made. */
  initial?: string;
};

export type Filter = { name: string; label: string; choices: Choices; flag?: boolean };
/** Something done to several at once. */
export type Verb = { name: string; label: string; json: Record<string, unknown> };

/** One resource of the administration, in words. */
export type AdminResource = {
  /** Its name in the address, in the API and in the audit. */
  path: string;
  many: string;
  one: string;
  searches: string;
  columns: Column[];
  filters: Filter[];
  /** None: it is only read. */
  fields: Field[];
  verbs?: Verb[];
  /** What else there is of an item, as lists. */
  belongs?: (id: string) => { label: string; to: string }[];
};

export type Item = { id: string; updatedAt: string } & Record<string, unknown>;
export type Listed = { items: Item[]; nextCursor: string | null; total: number; totalIsMinimum: boolean };
type Answer<Body> = Promise<Response & { json(): Promise<Body> }>;
type Options = { headers: Record<string, string> };
type Change = (args: { param: { id: string }; json: object }, options?: Options) => Answer<Item>;

/** The calls that all resources have in common. */
export type ResourceApi = {
  $get(args: { query: Record<string, string> }): Answer<Listed>;
  $post(args: { json: object }): Answer<Item>;
  ":id": {
    $get(args: { param: { id: string } }): Answer<Item>;
    $put: Change;
    $patch: Change;
    $delete(args: { param: { id: string }; json?: object }): Answer<unknown>;
  };
};

// The seed's methods (§7): PATCH for these, PUT for the others.
const patched = new Set(["chat", "message", "training", "user"]);

/** The resource of an address and its calls. Throws 404 for one that there is none of. */
export function resourceOf(context: Readonly<RouterContextProvider>, path: string) {
  const resource = resources.find((one) => one.path === path);
  if (!resource) throw data(null, 404);
  const api = (context.get(apiContext).api as unknown as Record<string, ResourceApi>)[path] as ResourceApi;
  const change: Change = (args, options) => (patched.has(path) ? api[":id"].$patch : api[":id"].$put)(args, options);
  return { resource, api, change };
}

/** The same, where it may be changed. Throws 404 for what is only read. */
export function changeable(context: Readonly<RouterContextProvider>, path: string): AdminResource {
  const { resource } = resourceOf(context, path);
  if (resource.fields.length === 0) throw data(null, 404);
  return resource;
}
