import { Link, useSearchParams } from "react-router";

/** `of`: the search parameter that says where a list goes on. */
type Props = { of: string; label: string; earlier: boolean; next: string | null };

/** Leads through one of the lists of a page; the others stay where they are. */
export function ListPages({ of, label, earlier, next }: Props) {
  const [params] = useSearchParams();
  if (!earlier && !next) return null;
  const at = (cursor: string | null) => {
    const changed = new URLSearchParams(params);
    if (cursor) changed.set(of, cursor);
    else changed.delete(of);
    return `?${changed}`;
  };
  return (
    <nav className="buttons" aria-label={label}>
      {earlier && (
        <Link to={at(null)} preventScrollReset>
          Al principio
        </Link>
      )}{" "}
      {next && (
        <Link to={at(next)} preventScrollReset>
          Siguiente
        </Link>
      )}
    </nav>
  );
}
