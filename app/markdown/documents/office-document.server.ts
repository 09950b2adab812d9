/** A conversation, a reply of it, or a text by itself, to be made into a document of an office. Times are in words. */
export type OfficeDocument = {
  format: "docx" | "odt";
  title: string;
  /** Name that the file has as its author. */
  author: string;
  /** Line that says that an AI has answered; empty where none has. */
  notice: string;
  turns: OfficeTurn[];
};
/** Rows of cells to be made into a sheet of an office; the first ones are the names of the columns. */
export type OfficeSheet = { format: "xlsx"; title: string; rows: string[][] };
/** `who`: null for a text that is the whole document; `files`: names of what was sent with it; `sources`: what its text cites by number. */
export type OfficeTurn = {
  who: string | null;
  when: string;
  markdown: string;
  files: string[];
  sources: { n: number; title: string; quote: string }[];
};
