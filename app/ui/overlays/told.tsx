import type { Flash } from "../../web/session.server.ts";
import { Callout } from "../callout.tsx";

/** A message of the server, on a page without a place for it. */
export default function Told({ type, title, description }: Omit<Flash, "id">) {
  return (
    <div className="leaf mt-5">
      <Callout type={type}>
        <p>{description ? `${title} ${description}` : title}</p>
      </Callout>
    </div>
  );
}
