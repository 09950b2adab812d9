/** Data that a drawing shows, for those who do not see it. */
export type DrawnTable = { columns: string[]; rows: string[][] };

/** A picture made of code; sizes in CSS pixels. `label`: its words, for those who do not see it. */
export type Picture = { svg: string; width: number; height: number; label: string; table?: DrawnTable };

/** Why code is no picture, as a sentence. */
export type NoPicture = { problem: string };

/** Facts of a picture that a page needs. */
export type Drawn = (Omit<Picture, "svg"> & { bytes: number }) | NoPicture;

/** Thrown with a sentence for whoever wrote the code. */
export class CannotDraw extends Error {
  override name = "CannotDraw";
}
