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
  /** Number of chats; some may belong to none of the people. */
  chatCount: number;
  /** `chat` is undefined if it can't be read. */
  chats(): Generator<{ person: string; project: string | null; chat: ImportedChat | undefined }>;
  /** Sentences about data that is not moved. */
  left: string[];
  close(): void;
};

/** `path` is undefined if the folder does not have the file; `readers`: people who may open the file. */
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

/** The house can't be read. The message is a sentence for the person who runs the move. */
export class HouseUnreadable extends Error {
  override name = "HouseUnreadable";
}

/** A sum with its noun: «1 chat», «3 chats»; undefined for none. */
export const counted = (count: number, one: string, many: string): string | undefined =>
  count === 0 ? undefined : `${count.toLocaleString("es")} ${count === 1 ? one : many}`;
