import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { setCookie } from "hono/cookie";
import type { ApiEnv } from "../env.server.ts";
import type { Tokens } from "./session-tokens.server.ts";

/** The answer of a route that opens or goes on with a session, for the OpenAPI document. */
export const token = (description: string) => ({ content: { "text/plain": { schema: z.string() } }, description });

/** The access token as the body, and the refresh token in a cookie. */
export function answerTokens<Status extends 200 | 201>(c: Context<ApiEnv>, tokens: Tokens, status: Status) {
  setCookie(c, "refresh", tokens.refresh, {
    path: "/",
    httpOnly: true,
    sameSite: "Strict",
    secure: new URL(c.req.url).protocol === "https:",
    expires: new Date(tokens.refreshExpiresAt),
  });
  return c.text(tokens.access, status, { "Cache-Control": "no-store" });
}
