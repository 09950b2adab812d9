import { createCookie } from "react-router";

// A cookie of its own: an answer that rewrote the session's could bring back tokens that another one has just rotated.
const cookie = createCookie("tertulia-sidebar", {
  httpOnly: true,
  sameSite: "strict",
  path: "/",
  maxAge: 365 * 24 * 60 * 60,
});

/** Whether the sidebar is folded; open unless somebody has closed it (seed §2). */
export const isFolded = async (request: Request) => (await cookie.parse(request.headers.get("Cookie"))) === "closed";

export const foldCookie = (state: "open" | "closed") => cookie.serialize(state);
