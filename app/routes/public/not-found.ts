import { data } from "react-router";

/** Every path that no route knows; a route of its own, so that the root's middleware runs for it too. */
export function loader(): never {
  throw data(null, 404);
}

export const action = loader;

export default function NotFound() {
  return null;
}
