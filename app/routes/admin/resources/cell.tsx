import { Link } from "react-router";
import type { Cell } from "./cells.server.ts";

/** A value of a list or an item: a state as a dot and a word, a moment on one line, a reference as a link. */
export function CellText({ text, to, tone, tag, moment }: Partial<Cell>) {
  if (to) return <Link to={to}>{text}</Link>;
  if (!text) return "—";
  if (tone) return <span className={`badge ${tone}`}>{text}</span>;
  if (tag) return <span className="tag">{text}</span>;
  return moment ? <span className="whitespace-nowrap">{text}</span> : text;
}
