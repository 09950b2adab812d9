import { createHmac } from "node:crypto";
import { sameSecret } from "../../process/crypto.server.ts";
import type { Services } from "../env.server.ts";
import type { IncomingMail } from "./read-message.server.ts";
import { headerIn } from "./sender.server.ts";

type Keyed = Pick<Services, "tokenKey">;

const mark = ({ tokenKey }: Keyed, replyId: string) =>
  createHmac("sha256", tokenKey).update(`mail:${replyId}`).digest("hex").slice(0, 24);

/** Message-ID of the e-mail that carries a reply; nobody else can make one. `address`: the house's. */
export const idOfReply = (services: Keyed, replyId: string, address: string): string =>
  `<${replyId}.${mark(services, replyId)}@${address.slice(address.lastIndexOf("@") + 1)}>`;

/** The newest reply that an e-mail answers, according to its thread headers; undefined if it answers no reply of ours. */
export function answeredReply(services: Keyed, headers: IncomingMail["headers"]): string | undefined {
  const ids = `${headerIn(headers, "references")} ${headerIn(headers, "in-reply-to")}`;
  return [...ids.matchAll(/<([\w-]{36})\.([0-9a-f]{24})@[^<>\s]+>/g)]
    .filter(([, replyId = "", said = ""]) => sameSecret(said, mark(services, replyId)))
    .at(-1)?.[1];
}
