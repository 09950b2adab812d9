import { createCookie } from "react-router";

// A separate cookie: rewriting the session cookie could overwrite tokens that a parallel response has just rotated.
const cookie = createCookie("tertulia-sidebar", {
  httpOnly: true,
  sameSite: "strict",
  path: "/",
  maxAge: 365 * 24 * 60 * 60,
});

/** Whether the sidebar is folded; open unless somebody has closed it. */
export const isFolded = async (request: Request) => (await cookie.parse(request.headers.get("Cookie"))) === "closed";

export const foldCookie = (state: "open" | "closed") => cookie.serialize(state);
