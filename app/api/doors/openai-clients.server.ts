import { OpenAPIHono } from "@hono/zod-openapi";
import { createMiddleware } from "hono/factory";
import type { ApiEnv } from "../env.server.ts";
import { Problem } from "../http/problem.server.ts";

/** Middleware for routes of OpenAI's clients: errors have OpenAI's shape beside our own fields. */
export const forOpenAi = createMiddleware<ApiEnv>(async (c, next) => {
  c.set("errorsOf", "openai");
  await next();
});

/** Headers of a stream of events. Without them, proxies such as nginx would buffer the stream. */
export const eventStream = { "Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no" };

/** Calls of OpenAI's API that are not offered, with the sentence that says what to use instead. */
const instead = {
  "/completions": "Aquí no hay /v1/completions: usa /v1/chat/completions o /v1/responses.",
};

/** The paths of `instead`: each answers 404 and names the call to use. */
export const openAiAbsent = new OpenAPIHono<ApiEnv>();
for (const [path, sentence] of Object.entries(instead)) {
  openAiAbsent.all(path, forOpenAi, () => {
    throw new Problem(404, sentence);
  });
}
