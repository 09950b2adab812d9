import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { pullStream } from "../../http/pull-stream.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { answerInvalid } from "../http/problem.server.ts";
import { bearer, id, idParam } from "../http/schemas.server.ts";
import { openChat } from "../http/visibility.server.ts";
import { leafBelow } from "./branch.server.ts";
import { attachmentName, chatAsJson, chatAsMarkdown } from "./chat-export.server.ts";
import { fileName } from "./path-in-archive.server.ts";

/** Exports a chat with all of its messages as a Markdown or JSON file. */
export const chatFiles = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  createRoute({
    method: "get",
    path: "/{id}/export",
    security: bearer,
    middleware: [signedIn, active],
    request: {
      params: idParam,
      query: z.object({
        format: z.enum(["markdown", "json"], "format tiene que ser markdown o json.").default("markdown"),
        version: id.optional().openapi({
          description:
            "Un mensaje de la versión a la que lleva leafId en el JSON; sin él, la que se escribió la última.",
        }),
      }),
    },
    responses: {
      200: {
        content: { "text/markdown": { schema: z.string() }, "application/json": { schema: z.unknown() } },
        description: "El chat, como fichero.",
      },
    },
  }),
  async (c) => {
    const { services } = c.var;
    const { db } = services;
    const { format, version } = c.req.valid("query");
    const own = await openChat(c, c.req.valid("param").id);
    const chat = version === undefined ? own : { ...own, leafId: await leafBelow(db, own.id, version) };
    const models = await db.selectFrom("models").select(["id", "name"]).execute();
    const { aiNotice } = services.config;
    const about = { aiNotice, models: new Map(models.map(({ id, name }) => [id, name])) };
    const markdown = format === "markdown";
    const pieces = markdown ? chatAsMarkdown(db, chat, about) : chatAsJson(db, chat, about);
    const file = pullStream(pieces, () => pieces.return(undefined));
    const name = `${fileName(chat.title)}.${markdown ? "md" : "json"}`;
    return c.body(file, 200, {
      "Content-Type": markdown ? "text/markdown; charset=utf-8" : "application/json",
      "Content-Disposition": attachmentName(name),
    });
  },
);
