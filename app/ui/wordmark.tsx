import { Link } from "react-router";

/** The name of the product, with its lamp; leads home. */
export function Wordmark() {
  return (
    <Link className="wordmark" to="/">
      Tertulia
      <span className="mark" />
    </Link>
  );
}
