import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { pullStream } from "../../http/pull-stream.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { answerInvalid } from "../http/problem.server.ts";
import { bearer, idParam } from "../http/schemas.server.ts";
import { openChat } from "../http/visibility.server.ts";
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
    const chat = await openChat(c, c.req.valid("param").id);
    const models = await db.selectFrom("models").select(["id", "name"]).execute();
    const { aiNotice } = services.config;
    const about = { aiNotice, models: new Map(models.map(({ id, name }) => [id, name])) };
    const markdown = c.req.valid("query").format === "markdown";
    const pieces = markdown ? chatAsMarkdown(db, chat, about) : chatAsJson(db, chat, about);
    const file = pullStream(pieces, () => pieces.return(undefined));
    const name = `${fileName(chat.title)}.${markdown ? "md" : "json"}`;
    return c.body(file, 200, {
      "Content-Type": markdown ? "text/markdown; charset=utf-8" : "application/json",
      "Content-Disposition": attachmentName(name),
    });
  },
);
