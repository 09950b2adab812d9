import { createCookie } from "react-router";

/** Cookie with the address that somebody goes on to after signing out. A link does not carry the address, as it could be anybody's. */
const cookieFor = (url: URL) => {
  const secure = url.protocol === "https:";
  return createCookie(secure ? "__Host-tertulia-salida" : "tertulia-salida", {
    httpOnly: true,
    sameSite: "strict",
    path: "/",
    secure,
    maxAge: 60,
  });
};

/** The header that stores the cookie. */
export const keepLeaving = (url: URL, there: string): Promise<string> => cookieFor(url).serialize(there);

/** The header that deletes the cookie. */
export const forgetLeaving = (url: URL): Promise<string> => cookieFor(url).serialize("", { maxAge: 0 });

/** The address to go on to; undefined if nobody has just signed out. */
export async function readLeaving(request: Request, url: URL): Promise<string | undefined> {
  const value: unknown = await cookieFor(url).parse(request.headers.get("Cookie"));
  return typeof value === "string" && /^https?:/.test(value) ? value : undefined;
}
