import { Link } from "react-router";

/** The product name with its mark; links to the home page. */
export function Wordmark() {
  return (
    <Link className="wordmark" to="/">
      Tertulia
      <span className="mark" />
    </Link>
  );
}
