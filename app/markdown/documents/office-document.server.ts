/** A conversation, or a reply of it, to be made into a document of an office. Times are in words. */
export type OfficeDocument = {
  format: "docx" | "odt";
  title: string;
  /** Name that the file has as its author. */
  author: string;
  /** Line that says that an AI has answered. */
  notice: string;
  turns: OfficeTurn[];
};
/** `files`: names of what was sent with it; `sources`: what its text cites by number. */
export type OfficeTurn = {
  who: string;
  when: string;
  markdown: string;
  files: string[];
  sources: { n: number; title: string; quote: string }[];
};
