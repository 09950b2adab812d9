import type { Client } from "../../../web/api-client.server.ts";
import type { Reference } from "../resources/references.server.ts";

type Choices = Record<string, string>;
/** How a state is shown beside its word: by a dot that is full, empty or of another colour. */
type Tone = "good" | "off" | "bad" | "wait";
export type States = Record<string, [said: string, tone: Tone]>;
type FieldKind = "text" | "number" | "flag" | "moment" | "choice" | "changes" | "groups" | Reference;

/** What a list shows of an item, and how. The first column leads to the item. */
export type Column = {
  name: string;
  label: string;
  kind?: FieldKind;
  choices?: Choices;
  /** Its values are states of the item. */
  states?: States;
  /** A flag shown as a tag with the label if it is true, and as «—» if it is not. */
  tag?: boolean;
  sorted?: boolean;
  hidden?: boolean;
};

/** The field of things that may be for some groups only. */
export const forGroups: Field = {
  name: "groupIds",
  label: "Solo para estos grupos",
  kind: "groups",
  hint: "Uno en cada línea. Vacío: para todas las personas.",
};

/** An input of a form: only its label and kind, because the API validates the values. */
export type Field = {
  name: string;
  label: string;
  kind?: "text" | "area" | "markdown" | "number" | "flag" | "choice" | "secret" | "moment" | "groups" | Reference;
  hint?: string;
  /** Instead of the hint, where something is changed. */
  editHint?: string;
  choices?: Choices;
  required?: boolean;
  /** Left empty, it is null. */
  nullable?: boolean;
  /** Short enough to stand beside another. */
  half?: boolean;
  /** Behind «Más opciones». */
  folded?: boolean;
  /** Only where something is made, or only where it is changed. */
  only?: "create" | "edit";
  /** The value in the form for a new item; "now" for a moment: the present time. */
  initial?: string;
};

/** `all`: the label for no choice, «Todos» by default; it has the gender of `label`. */
export type Filter = { name: string; label: string; choices: Choices; flag?: boolean; all?: string };
/** Values that fill several fields of a form at once. */
export type Preset = { name: string; label: string; values: Record<string, string> };
/** Something done to several at once. */
export type Verb = { name: string; label: string; json: Record<string, unknown> };

/** One resource of the administration, in words. */
export type AdminResource = {
  /** Its name in the address, in the API and in the audit. */
  path: string;
  many: string;
  /** In the menu. */
  icon: string;
  one: string;
  /** Whether its name is feminine in Spanish, for words like «Creada», «todas» and «ninguna». */
  feminine?: boolean;
  searches: string;
  reads(api: Client["api"]): Reads;
  /** Absent: it is only read. */
  writes?(api: Client["api"]): Writes;
  columns: Column[];
  filters: Filter[];
  fields: Field[];
  presets?: Preset[];
  verbs?: Verb[];
  /** Whether the list can be taken along whole, as the API gives it, in lines of JSON. */
  lines?: true;
  /** Links to the lists of what belongs to an item. */
  belongs?: (id: string) => { label: string; to: string }[];
};

/** What every item has, whatever else it has. */
export type Item = { id: string } & Record<string, unknown>;
export type ItemPage = { items: Item[]; nextCursor: string | null; total: number; totalIsMinimum: boolean };
type Answer<Body> = Promise<{ ok: boolean; status: number; json(): Promise<Body>; text(): Promise<string> }>;
type RequestOptions = { headers: Record<string, string> };

/** The calls of the API that every list uses. */
export type Reads = {
  list(args: { query: Record<string, string> }): Answer<ItemPage>;
  read(args: { param: { id: string } }): Answer<Item>;
};

/** Those of every form. The bodies differ; the API checks them. */
export type Writes = {
  create(args: { json: object }): Answer<Item>;
  change(args: { param: { id: string }; json: object }, options?: RequestOptions): Answer<Item>;
  remove(args: { param: { id: string } }): Answer<unknown>;
};
