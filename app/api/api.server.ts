import { OpenAPIHono, z } from "@hono/zod-openapi";
import { cors } from "hono/cors";
import { getPath } from "hono/utils/url";
import { v7 as newId } from "uuid";
import { apiKeys } from "./auth/api-keys.server.ts";
import { authenticator } from "./auth/authenticator.server.ts";
import { openSessions } from "./auth/open-sessions.server.ts";
import { passwordResets } from "./auth/password-resets.server.ts";
import { sessions } from "./auth/sessions.server.ts";
import { chatFiles } from "./chats/chat-files.server.ts";
import { chats } from "./chats/chats.server.ts";
import { conversation } from "./chats/conversation.server.ts";
import { dashboard } from "./chats/dashboard.server.ts";
import { messages } from "./chats/messages.server.ts";
import { prompts } from "./chats/prompts.server.ts";
import { search } from "./chats/search.server.ts";
import { chatShares, shares } from "./chats/shares.server.ts";
import { summaries } from "./chats/summaries.server.ts";
import type { ApiEnv, Services } from "./env.server.ts";
import { boundBody } from "./http/bodies.server.ts";
import { reads, writes } from "./http/crud.server.ts";
import { etags } from "./http/etags.server.ts";
import { answerError, Problem } from "./http/problem.server.ts";
import { tellRateLimit } from "./http/rate-limit.server.ts";
import { imports } from "./imports/imports.server.ts";
import { files } from "./knowledge/files.server.ts";
import { projects } from "./knowledge/projects.server.ts";
import { trainings } from "./knowledge/trainings.server.ts";
import { uploads } from "./knowledge/uploads.server.ts";
import { chatCompletions } from "./models/chat-completions.server.ts";
import { modelTrials } from "./models/model-trial.server.ts";
import { models } from "./models/models.server.ts";
import { openAiAbsent } from "./models/openai-clients.server.ts";
import { docsPage } from "./openapi/docs.server.ts";
import { type OpenApiDocument, withExamples } from "./openapi/openapi.server.ts";
import { emails } from "./site/emails.server.ts";
import { inbox } from "./site/inbox.server.ts";
import { pageResource, pages } from "./site/pages.server.ts";
import { auditTrail } from "./system/audit-trail.server.ts";
import { figuresOfAll } from "./system/figures.server.ts";
import { system } from "./system/system.server.ts";
import { systemBackups } from "./system/system-backups.server.ts";
import { subscriptions } from "./users/subscriptions.server.ts";
import { usage } from "./users/usage.server.ts";
import { users } from "./users/users.server.ts";

// Zod's own Spanish messages, for what the schemas here have no sentence for.
z.config(z.locales.es());

/** The whole API. Served at /v1 and called in process by the pages. */
export function createApi(services: Services) {
  // Routes answer with and without /v1. Rewriting each request instead would cost more than the call.
  const api = new OpenAPIHono<ApiEnv>({ getPath: (request) => getPath(request).replace(/^\/v1(?=\/|$)/, "") || "/" });
  api.openAPIRegistry.registerComponent("securitySchemes", "bearer", { type: "http", scheme: "bearer" });
  api.use(async (c, next) => {
    c.set("services", services);
    c.set("requestId", newId());
    // PostgreSQL can't store NUL, and no id, search or filter needs one.
    if (c.req.url.includes("%00")) throw new Problem(422, "La dirección tiene caracteres que no se admiten.");
    await next();
    c.res.headers.set("X-Request-Id", c.var.requestId);
    tellRateLimit(c);
  });
  const { corsOrigins } = services.config;
  // For pages of other sites that use an API key. Credentials are not allowed, so no cookie is sent.
  if (corsOrigins.length > 0) {
    const exposeHeaders = ["ETag", "Retry-After", "X-Request-Id"];
    api.use(cors({ origin: corsOrigins, exposeHeaders, maxAge: 600 }));
  }
  api.use(boundBody, etags);
  api.onError(answerError);
  api.notFound((c) => answerError(new Problem(404, "Esta llamada no existe."), c));
  const routes = mount(api);
  let described: OpenApiDocument | undefined;
  // Built on first use.
  const describe = () => {
    const info = { openapi: "3.1.0", info: { title: "Tertulia", version: "1" }, servers: [{ url: "/v1" }] };
    described ??= withExamples(routes.getOpenAPI31Document(info) as OpenApiDocument);
    return described;
  };
  routes.get("/api/openapi.json", (c) => c.json(describe()));
  routes.get("/docs", (c) => c.html(docsPage(describe())));
  return routes;
}

/** The paths of the API; the type of the result is what the client is typed by. */
function mount(api: OpenAPIHono<ApiEnv>) {
  return api
    .route("/", chatCompletions)
    .route("/", openAiAbsent)
    .route("/auth", sessions)
    .route("/auth/sessions", openSessions)
    .route("/auth/authenticator", authenticator)
    .route("/auth/reset", passwordResets)
    .route("/api/key", apiKeys)
    .route("/api/user", users)
    .route("/api/chat", chats)
    .route("/api/chat", chatFiles)
    .route("/api/chat", chatShares)
    .route("/api/chat", imports)
    .route("/api/share", shares)
    .route("/api/message", messages)
    .route("/api/message", prompts)
    .route("/api/model", models)
    .route("/api/project", projects)
    .route("/api/file", uploads)
    .route("/api/file", files)
    .route("/api/page", pages)
    .route("/api/page", writes(pageResource))
    .route("/api/model", modelTrials)
    .route("/api/audit", reads(auditTrail))
    .route("/api/email", reads(inbox))
    .route("/api/training", reads(trainings))
    .route("/api/training", writes(trainings))
    .route("/api/summary", reads(summaries))
    .route("/api/summary", writes(summaries))
    .route("/api/subscription", reads(subscriptions))
    .route("/api/subscription", writes(subscriptions))
    .route("/api/email", emails)
    .route("/api/search", search)
    .route("/api/usage", usage)
    .route("/api/usage", figuresOfAll)
    .route("/api/system", system)
    .route("/api/system/backup", systemBackups)
    .route("/api/dashboard", dashboard)
    .route("/api/intelligence/conversation", conversation);
}

export type Api = ReturnType<typeof createApi>;
