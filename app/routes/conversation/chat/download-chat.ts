import { makeDocument, officeTypes } from "../../../markdown/documents/make-document.server.ts";
import { accepted } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { getHouse, zoneOfPerson } from "../../../web/house.server.ts";
import type { Route } from "./+types/download-chat";
import { officeDocumentOf } from "./office-document.server.ts";

/**
 * A chat as a file: `?formato=markdown`, `json`, `docx` or `odt`. The last two formats have the version with the message `version`, or
 * the reply `mensaje` alone. Throws 404 if the chat or the message is not there, and 413 if the text is too long for a document.
 */
export async function loader({ context, params, request, url }: Route.LoaderArgs) {
  const asked = url.searchParams.get("formato");
  const format = asked === "docx" || asked === "odt" ? asked : undefined;
  const { $get } = context.get(apiContext).api.chat[":id"].export;
  const version = url.searchParams.get("version") ?? undefined;
  const query = { format: format || asked === "json" ? ("json" as const) : ("markdown" as const), version };
  const answer = await accepted($get({ param: { id: params.id }, query }));
  if (!format) return new Response(answer.body, { headers: answer.headers });
  const { name: author } = await getHouse(context);
  const about = { author, timeZone: await zoneOfPerson(context, request) };
  const document = officeDocumentOf(await answer.json(), format, url.searchParams.get("mensaje"), about);
  if (!document) throw new Response(null, { status: 404 });
  const { user } = await requireUser(context);
  const bytes = await makeDocument(document, user.id);
  if (!bytes) throw new Response("Es demasiado larga para un documento. Descárgala como Markdown.", { status: 413 });
  const named = answer.headers.get("Content-Disposition")?.replaceAll(/\.json(?="|$)/g, `.${format}`) ?? "attachment";
  return new Response(bytes, { headers: { "Content-Type": officeTypes[format], "Content-Disposition": named } });
}
