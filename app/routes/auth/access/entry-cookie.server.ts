import { createCookie } from "react-router";
import { recordOf } from "../../../process/text/json.ts";

/** Data that a browser keeps from the moment it leaves for a provider until it comes back. */
export type BegunEntry = { accessId: string; state: string; nonce: string; verifier: string; volver: string };

/**
 * The cookie for these data. It is `Lax`, while the session's is `Strict`: the browser has to send it on the way back, which another site
 * begins. It is not signed, because its browser may say anything in it; over HTTPS its name keeps other hosts from setting it.
 */
const cookieFor = (url: URL) => {
  const secure = url.protocol === "https:";
  return createCookie(secure ? "__Host-tertulia-acceso" : "tertulia-acceso", {
    httpOnly: true,
    sameSite: "lax",
    path: "/",
    secure,
    maxAge: 15 * 60,
  });
};

/** The header that stores the cookie. */
export const keepBegun = (url: URL, begun: BegunEntry): Promise<string> => cookieFor(url).serialize(begun);

/** The header that deletes the cookie. */
export const forgetBegun = (url: URL): Promise<string> => cookieFor(url).serialize("", { maxAge: 0 });

/** The sign-in that this browser has begun; undefined without one, or if it was begun too long ago. */
export async function readBegun(request: Request, url: URL): Promise<BegunEntry | undefined> {
  const value: unknown = await cookieFor(url).parse(request.headers.get("Cookie"));
  const begun = recordOf(value) ?? {};
  const names = ["accessId", "state", "nonce", "verifier", "volver"];
  return names.every((name) => typeof begun[name] === "string") ? (begun as BegunEntry) : undefined;
}
