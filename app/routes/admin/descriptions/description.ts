import type { InferRequestType, InferResponseType } from "hono/client";
import type { IconName } from "../../../ui/icon.tsx";
import type { Client } from "../../../web/api-client.server.ts";
import type { Context } from "../../../web/context.ts";
import type { Tried } from "../models/try-model.server.ts";
import type { PartOfItem } from "../resources/part.tsx";
import type { Reference } from "./reference.ts";

type Api = Client["api"];
/** Names of the API's resources, which have a list and items. */
type Path = { [P in keyof Api]: Api[P] extends ReadCalls ? P : never }[keyof Api];
type ReadCalls = { $get: (...args: never) => unknown; ":id": { $get: (...args: never) => unknown } };
/** An item, as its list answers it. */
type Shown<P extends Path> = InferResponseType<Api[P]["$get"], 200> extends { items: (infer Item)[] } ? Item : never;
type ShownField<P extends Path> = keyof Shown<P> & string;
/** Words for each value of a field: a value without its words does not compile. */
export type ChoicesOf<P extends Path, F extends ShownField<P>> = Record<Shown<P>[F] & string, string>;
/** Fields of the body that creates or changes an item. */
type BodyField<P extends Path> = BodyOf<Api[P]> | BodyOf<Api[P][":id"]>;
type BodyOf<Calls> = {
  [Method in keyof Calls & ("$post" | "$put" | "$patch")]: InferRequestType<Calls[Method]> extends { json: infer Body }
    ? keyof Body & string
    : never;
}[keyof Calls & ("$post" | "$put" | "$patch")];

type Choices = Record<string, string>;
/** How a state is shown beside its word: by a dot that is full, empty or of another colour. */
type Tone = "good" | "off" | "bad" | "wait";
export type States = Record<string, [said: string, tone: Tone]>;
type FieldKind = "text" | "markdown" | "number" | "flag" | "moment" | "choice" | "changes" | "groups" | Reference;

/** A column of a list, and how it is shown. The first column leads to the item. */
export type Column<Name extends string = string> = {
  name: Name;
  label: string;
  kind?: FieldKind;
  choices?: Choices;
  /** Words and tones of values that are states. */
  states?: States;
  /** A flag shown as a tag with the label if it is true, and as «—» if it is not. */
  tag?: boolean;
  sorted?: boolean;
  hidden?: boolean;
};

/** The field of things that may be for some groups only. */
export const forGroups: Field<"groupIds"> = {
  name: "groupIds",
  label: "Solo para estos grupos",
  kind: "groups",
  hint: "Sin marcar ninguno: para todas las personas.",
};

/** An input of a form: only its label and kind, because the API validates the values. */
export type Field<Name extends string = string> = {
  name: Name;
  label: string;
  kind?: "text" | "area" | "markdown" | "number" | "flag" | "choice" | "secret" | "moment" | "groups" | Reference;
  hint?: string;
  /** Hint of a form that changes an item, instead of `hint`. */
  editHint?: string;
  /** Names of an item's flags for a secret: `is`: a secret is stored; `lost`: it can't be read any more. */
  stored?: { is: string; lost?: string };
  choices?: Choices;
  required?: boolean;
  /** An empty field is sent as null. */
  nullable?: boolean;
  /** Short enough to stand beside another field. */
  half?: boolean;
  /** Behind «Más opciones». */
  folded?: boolean;
  /** The field stands only in the form that creates an item, or only in the one that changes it. */
  only?: "create" | "edit";
  /** The value in the form for a new item; "now" for a moment: the present time. */
  initial?: string;
};

/** `all`: the label for no choice, «Todos» by default; it has the gender of `label`. */
export type Filter = { name: string; label: string; choices: Choices; flag?: boolean; all?: string };
/** Values that fill several fields of a form at once. */
export type Preset = { name: string; label: string; values: Record<string, string> };
/** An action on several marked items at once: the fields that it changes. */
export type Verb<Name extends string = string> = { name: string; label: string; json: { [Field in Name]?: unknown } };

/** The methods by which the API changes an item. */
type MethodOf<P extends Path> =
  | ("$put" extends keyof Api[P][":id"] ? "put" : never)
  | ("$patch" extends keyof Api[P][":id"] ? "patch" : never);

/** One resource of the administration, in words. Its columns, fields and method are those of the API. A verb needs `patch`. */
export type AdminResource<P extends Path> = AnyAdminResource<ShownField<P>, BodyField<P>> & {
  path: P;
  changes?: MethodOf<P>;
  verbs?: MethodOf<P> extends "patch" ? Verb<BodyField<P>>[] : never;
};

/** The description of any resource. */
export type AnyAdminResource<Shown extends string = string, Body extends string = string> = {
  /** Its name in the address, in the API and in the audit. */
  path: string;
  many: string;
  /** Icon in the menu. */
  icon: IconName;
  one: string;
  /** A sentence about its use, for an empty list. */
  about: string;
  /** Whether its name is feminine in Spanish, for words like «Creada», «todas» and «ninguna». */
  feminine?: boolean;
  searches: string;
  /** Method by which the API changes an item. Absent: items are only read. */
  changes?: "put" | "patch";
  columns: Column<Shown>[];
  filters: Filter[];
  fields: Field<Body>[];
  presets?: Preset[];
  verbs?: Verb<Body>[];
  /** Whether the whole list can be downloaded, as the API gives it, in lines of JSON. */
  lines?: true;
  /** Links to the lists of what belongs to an item. */
  belongs?: (id: string) => { label: string; to: string }[];
  /** Things that are deleted with an item: their list, the filter that takes its id, and their name for one and for several. */
  goes?: { path: string; filter: string; words: [one: string, many: string] }[];
  /** Columns that lists cut and that are no fields: the page of an item shows them whole. */
  whole?: Shown[];
  /** Parts of an item's page besides its columns: above its links and long texts, or below. */
  parts?(context: Context, item: Item, url: URL): Promise<{ above?: PartOfItem; below?: PartOfItem } | undefined>;
  /** Does what the forms on the page of an item ask for. Undefined: the page is shown again. */
  acts?(context: Context, id: string, url: URL): Promise<unknown>;
  /** Address of another page that deletes the item; undefined: the usual page deletes it. */
  deletedAt?(context: Context, id: string): Promise<string | undefined>;
  /** «Probar», for the items it fits. */
  trial?: { fits(item: Item): boolean; run(context: Context, id: string): Promise<Tried> };
  /** A button above the list that looks for new items. `run` returns what it has found, in words. */
  discovery?: { label: string; run(context: Context): Promise<{ type: "info" | "success"; title: string }> };
};

/** An item of any resource. */
export type Item = { id: string } & Record<string, unknown>;
export type ItemPage = { items: Item[]; nextCursor: string | null; total: number; totalIsMinimum: boolean };
type Answer<Body> = Promise<{ ok: boolean; status: number; json(): Promise<Body>; text(): Promise<string> }>;
type RequestOptions = { headers: Record<string, string> };

/** The calls of the API for a resource. The bodies differ; the API checks them. */
export type Calls = {
  $get(args: { query: Record<string, string> }): Answer<ItemPage>;
  $post(args: { json: object }): Answer<Item>;
  ":id": {
    $get(args: { param: { id: string } }): Answer<Item>;
    $put(args: { param: { id: string }; json: object }, options?: RequestOptions): Answer<Item>;
    $patch(args: { param: { id: string }; json: object }, options?: RequestOptions): Answer<Item>;
    $delete(args: { param: { id: string } }): Answer<unknown>;
  };
};
