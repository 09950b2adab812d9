import type { ImportedChat } from "../formats/imported-chat.server.ts";

/** Program that a house is moved from. */
export type HouseSource = "open-webui" | "librechat";

/** Everything of another program that moves here. Ids are those of that program. */
export type House = {
  source: HouseSource;
  people: HousePerson[];
  groups: { id: string; name: string; description: string; people: string[] }[];
  projects: HouseProject[];
  templates: { id: string; person: string; title: string; content: string; shared: boolean }[];
  assistants: HouseAssistant[];
  /** By their ids. */
  files: Map<string, HouseFile>;
  /** How many chats there are, of which some may be of nobody. */
  chatCount: number;
  /** `chat` is undefined if it can't be read. */
  chats(): Generator<{ person: string; project: string | null; chat: ImportedChat | undefined }>;
  /** Sentences about what does not come. */
  left: string[];
  close(): void;
};

/** `path` is undefined where the folder does not have it; `readers`: people who may open it. */
export type HouseFile = { name: string; path: string | undefined; readers: ReadonlySet<string> };
export type HousePerson = { id: string; name: string; email: string; isAdmin: boolean };
/** A folder of chats, or a collection of documents. `readers`: other people who see it. */
export type HouseProject = {
  id: string;
  person: string;
  name: string;
  description: string;
  instructions: string;
  files: string[];
  readers: string[];
};
export type HouseAssistant = {
  id: string;
  person: string;
  name: string;
  purpose: string;
  instructions: string;
  /** Name of its model at its provider. */
  model: string;
  temperature: number | null;
  beginnings: string[];
  files: string[];
  /** Everybody; null: its owner alone; else members of these groups. */
  sharedWith: "everybody" | string[] | null;
};

/** The house can't be read. The message is the sentence for who moves it. */
export class HouseUnreadable extends Error {
  override name = "HouseUnreadable";
}

/** A sum with its noun: «1 chat», «3 chats»; undefined for none. */
export const counted = (count: number, one: string, many: string): string | undefined =>
  count === 0 ? undefined : `${count.toLocaleString("es")} ${count === 1 ? one : many}`;
