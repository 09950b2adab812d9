import type { Picture } from "../drawings/drawing.server.ts";

/** A conversation, one of its replies, or a text by itself, to be made into an office document. Times are in words. */
export type OfficeDocument = {
  format: "docx" | "odt";
  title: string;
  /** Name that the file has as its author. */
  author: string;
  /** Line that says that an AI has answered; empty where none has. */
  notice: string;
  turns: OfficeTurn[];
};
/** Drawings of a document by their keys. */
export type OfficePictures = Record<string, Picture>;
/** The drawings as pixels, which all programs show. */
export type OfficeImages = Record<string, Omit<Picture, "svg" | "table"> & { png: Uint8Array }>;
// In pixels, between the margins of a page.
const textWidth = 600;
const textHeight = 860;

/** The size of an image on a page: its own, or as large as fits. */
export function fitted({ width, height }: { width: number; height: number }): { width: number; height: number } {
  const scale = Math.min(1, textWidth / width, textHeight / height);
  return { width: Math.round(width * scale), height: Math.round(height * scale) };
}

/** Rows of cells to be made into a spreadsheet; the cells of the first row are the names of the columns. */
export type OfficeSheet = { format: "xlsx"; title: string; rows: string[][] };
/** `who`: null for a text that is the whole document; `files`: names of the files sent with it; `sources`: cited by number in its text. */
export type OfficeTurn = {
  who: string | null;
  when: string;
  markdown: string;
  files: string[];
  sources: { n: number; title: string; quote: string }[];
};
