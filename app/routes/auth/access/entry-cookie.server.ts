import { createCookie } from "react-router";

/** Data that a browser keeps from the moment it leaves for a provider until it comes back. */
export type BegunEntry = { accessId: string; state: string; nonce: string; verifier: string; volver: string };

/**
 * The cookie for it. It is `Lax`, where the session's is `Strict`: it has to come along on the way back, which another site begins.
 * It is not signed, as it says nothing that its browser may not say; over HTTPS its name keeps other hosts from setting it.
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

/** The header that keeps it. */
export const keepBegun = (url: URL, begun: BegunEntry): Promise<string> => cookieFor(url).serialize(begun);

/** The header that forgets it. */
export const forgetBegun = (url: URL): Promise<string> => cookieFor(url).serialize("", { maxAge: 0 });

/** The sign-in that this browser has begun; undefined for none, or if it is too long ago. */
export async function readBegun(request: Request, url: URL): Promise<BegunEntry | undefined> {
  const value: unknown = await cookieFor(url).parse(request.headers.get("Cookie"));
  const begun = Object(value) as Record<string, unknown>;
  const names = ["accessId", "state", "nonce", "verifier", "volver"];
  return names.every((name) => typeof begun[name] === "string") ? (begun as BegunEntry) : undefined;
}
