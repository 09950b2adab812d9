import { createCookie, data, redirect } from "react-router";
import { read, whenStatus } from "../../../web/api-result.server.ts";
import { apiContext, type Context } from "../../../web/context.ts";

/** Cookie of a guest, for the address of one room: somebody may be in several rooms, and signed in besides. */
const cookieOf = (code: string, request: Request) =>
  createCookie("sala", {
    path: `/sala/${code}`,
    httpOnly: true,
    // A link on another site, as in a message, must also lead to the conversation that the guest has already begun.
    sameSite: "lax",
    secure: new URL(request.url).protocol === "https:",
  });

// In s: the longest time that a room may last and be read. A token ends earlier, with its room.
const keptFor = 91 * 24 * 60 * 60;

/** The `Set-Cookie` of a guest; without a token, the one that deletes the cookie. */
export const keepGuest = (code: string, request: Request, token: string) =>
  cookieOf(code, request).serialize(token, { maxAge: token ? keptFor : 0 });

/** Throws 404 for a code that no room can have, and redirects a code in capitals, as paper may have it, to small letters. */
export function checkCode(code: string): void {
  if (!/^[a-z2-9]{10}$/i.test(code)) throw data(null, 404);
  if (code !== code.toLowerCase()) throw redirect(`/sala/${code.toLowerCase()}`);
}

/** Header of the API's calls for the guest who sends a request; empty without a guest. */
export async function asGuest(code: string, request: Request): Promise<{ "room-guest"?: string }> {
  const token: unknown = await cookieOf(code, request).parse(request.headers.get("Cookie"));
  return typeof token === "string" && /^[\w-]{32,100}$/.test(token) ? { "room-guest": token } : {};
}

export type GuestConversation = NonNullable<Awaited<ReturnType<typeof conversationOf>>>;

/** The conversation of the guest who sends a request, or its part before a message; undefined for somebody who is not in the room. */
export async function conversationOf(context: Context, code: string, request: Request, before?: string) {
  const header = await asGuest(code, request);
  if (!header["room-guest"]) return;
  const query = before ? { before } : {};
  const conversation = await read(context.get(apiContext).api.guest.conversation.$get({ header, query })).catch(
    whenStatus(401, undefined),
  );
  return conversation?.code === code ? conversation : undefined;
}

export type GuestRoom = Awaited<ReturnType<typeof roomOf>>;

/** The room at an address, as anybody with the address sees it. */
export const roomOf = (context: Context, code: string) =>
  read(context.get(apiContext).api.guest.room[":code"].$get({ param: { code } }));
