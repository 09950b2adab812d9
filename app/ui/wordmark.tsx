import { Link, useRouteLoaderData } from "react-router";
import type { loader as root } from "../root.tsx";

/** The logo of the house, or its name; links to the home page. */
export function Wordmark() {
  const { name, logo } = useRouteLoaderData<typeof root>("root")?.house ?? {};
  return (
    <Link className="wordmark" to="/">
      {logo ? <img src={`/marca/logotipo?v=${logo}`} alt={name} /> : name || "Inicio"}
    </Link>
  );
}
