import { createHash } from "node:crypto";
import { renderedText } from "../../markdown/rendered.server.ts";
import { digitalSource } from "../../process/text/digital-source.ts";
import { read } from "../../web/api-result.server.ts";
import { apiContext } from "../../web/context.ts";
import { getHouse } from "../../web/house.server.ts";
import type { Route } from "./+types/reply-feed";

const cut = "La respuesta se ha quedado a medias: en la conversación dice por qué y cómo seguir.";
const saidOf = {
  complete: "",
  waiting: "La respuesta espera tu permiso.",
  stopped: cut,
  failed: cut,
  interrupted: cut,
};

/** A person's newest replies as an Atom feed (RFC 4287), at an address that only they know. */
export async function loader({ context, params: { token }, request, url }: Route.LoaderArgs) {
  const answer = await context.get(apiContext).api.feed[":token"].$get({ param: { token } });
  if (Number(answer.status) === 429) return comeBackLater(answer);
  const { items, updatedAt, aiNotice } = await read(Promise.resolve(answer));
  const entityTag = `"${createHash("sha256")
    .update(JSON.stringify([items, aiNotice]))
    .digest("base64url")}"`;
  const headers = { ETag: entityTag, "Cache-Control": "private, max-age=60" };
  // A compressed answer has a weak entity tag.
  if (request.headers.get("If-None-Match")?.replace(/^W\//, "") === entityTag)
    return new Response(null, { status: 304, headers });
  const entries = items.map(async ({ id, chatId, title, content, status, finishedAt }) => {
    const text = await renderedText(`feed:${id}`, content, {}, token);
    const said = [saidOf[status], aiNotice].filter(Boolean).map((line) => `<p>${escaped(line)}</p>`);
    return `<entry><id>urn:uuid:${id}</id><title>${escaped(title)}</title><updated>${finishedAt}</updated><link href="${url.origin}/conversation/chat/${chatId}"/><category term="${digitalSource.generated}"/><content type="html">${escaped(text + said.join(""))}</content></entry>`;
  });
  const { name } = await getHouse(context);
  const self = `${url.origin}${url.pathname}`;
  return new Response(
    `<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="es"><id>${self}</id><title>${escaped(name)}: tus respuestas</title><author><name>${escaped(name)}</name></author><updated>${updatedAt}</updated><link rel="self" href="${self}"/>\n${(await Promise.all(entries)).join("\n")}\n</feed>\n`,
    { headers: { ...headers, "Content-Type": "application/atom+xml; charset=utf-8" } },
  );
}

/** The answer to a program that asks too often; the API says how long it has to wait. */
const comeBackLater = ({ headers }: { headers: Headers }) =>
  new Response(null, { status: 429, headers: { "Retry-After": headers.get("Retry-After") ?? "900" } });

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
/** Text for XML, without the characters that it does not allow (XML 1.0, 2.2). */
const escaped = (text: string) =>
  text
    .toWellFormed()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to leave out
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
    .replace(/[&<>"]/g, (character) => entities[character] ?? "");
