// Pictures are drawn on paper, whatever the page around them looks like: authors choose colours for a white ground.
export const paper = "#fbf8f2";
export const ink = "#2b2520";
export const font = "Helvetica, Arial, sans-serif";
// Colours on `paper` that any colour vision tells apart (after Okabe and Ito).
export const series = ["#0072b2", "#d55e00", "#009e73", "#b8860b", "#7a5195", "#56b4e9", "#a05050", "#555555"];

/** A colour between ink and paper; `part`: of ink, from 0 to 1. */
export function shade(part: number): string {
  const channel = (colour: string, at: number) => Number.parseInt(colour.slice(at, at + 2), 16);
  const mixed = [1, 3, 5].map((at) => Math.round(channel(ink, at) * part + channel(paper, at) * (1 - part)));
  return `#${mixed.map((one) => one.toString(16).padStart(2, "0")).join("")}`;
}
