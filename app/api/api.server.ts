import { OpenAPIHono, z } from "@hono/zod-openapi";
import { bodyLimit } from "hono/body-limit";
import { getPath } from "hono/utils/url";
import { v7 as newId } from "uuid";
import { limits } from "../limits.ts";
import { isMultipart } from "../multipart.server.ts";
import { apiKeys } from "./api-keys.server.ts";
import { tellRateLimit } from "./attempts.server.ts";
import { auditTrail } from "./audit-trail.server.ts";
import { authenticator } from "./authenticator.server.ts";
import { chatCompletions } from "./chat-completions.server.ts";
import { chatFiles } from "./chat-files.server.ts";
import { chats } from "./chats.server.ts";
import { conversation } from "./conversation.server.ts";
import { reads, writes } from "./crud.server.ts";
import { dashboard } from "./dashboard.server.ts";
import { docsPage } from "./docs.server.ts";
import { emails } from "./emails.server.ts";
import type { ApiEnv, Services } from "./env.server.ts";
import { etags } from "./etags.server.ts";
import { figuresOfAll } from "./figures.server.ts";
import { files } from "./files.server.ts";
import { idempotent } from "./idempotency.server.ts";
import { imports } from "./imports.server.ts";
import { inbox } from "./inbox.server.ts";
import { messages } from "./messages.server.ts";
import { modelTrials } from "./model-trial.server.ts";
import { models } from "./models.server.ts";
import { openSessions } from "./open-sessions.server.ts";
import { type Document, withExamples } from "./openapi.server.ts";
import { pageResource, pages } from "./pages.server.ts";
import { passwordResets } from "./password-resets.server.ts";
import { answerError, Problem } from "./problem.server.ts";
import { projects } from "./projects.server.ts";
import { prompts } from "./prompts.server.ts";
import { search } from "./search.server.ts";
import { sessions } from "./sessions.server.ts";
import { chatShares, shares } from "./shares.server.ts";
import { subscriptions } from "./subscriptions.server.ts";
import { summaries } from "./summaries.server.ts";
import { system } from "./system.server.ts";
import { systemBackups } from "./system-backups.server.ts";
import { tellChange } from "./tell-change.server.ts";
import { trainings } from "./trainings.server.ts";
import { uploads } from "./uploads.server.ts";
import { usage } from "./usage.server.ts";
import { users } from "./users.server.ts";

// For what no schema of ours puts into words.
z.config(z.locales.es());

/** The whole API, its paths as in the seed (§7). Served at /v1 and called in process by the pages. */
export function createApi(services: Services) {
  // The same API at /v1 for other programs and without it in process; a copy of each request would cost more than the call.
  const api = new OpenAPIHono<ApiEnv>({ getPath: (request) => getPath(request).replace(/^\/v1(?=\/|$)/, "") || "/" });
  api.openAPIRegistry.registerComponent("securitySchemes", "bearer", { type: "http", scheme: "bearer" });
  api.use(async (c, next) => {
    c.set("services", services);
    c.set("requestId", newId());
    // PostgreSQL has no NUL, and no id, search or filter needs one.
    if (c.req.url.includes("%00")) throw new Problem(422, "La dirección tiene caracteres que no se admiten.");
    await next();
    c.res.headers.set("X-Request-Id", c.var.requestId);
    tellRateLimit(c);
    await tellChange(c);
  });
  const onError = () => {
    throw new Problem(413, "La petición es demasiado grande.");
  };
  const limitBody = bodyLimit({ maxSize: limits.jsonBody, onError });
  const limitCompletion = bodyLimit({ maxSize: limits.completionBody, onError });
  api.use((c, next) => {
    // Files are bounded one by one, while they are read.
    if (isMultipart(c.req.raw) && /\/(uploads|import)$/.test(c.req.path)) return next();
    return c.req.path.endsWith("/chat/completions") ? limitCompletion(c, next) : limitBody(c, next);
  });
  api.use(etags, idempotent);
  api.onError(answerError);
  api.notFound((c) => answerError(new Problem(404, "Esta llamada no existe."), c));
  const routes = api
    .route("/", chatCompletions)
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
  let described: Document | undefined;
  // Made when first asked for: few ever do.
  const describe = () => {
    const info = { openapi: "3.1.0", info: { title: "Tertulia", version: "1" }, servers: [{ url: "/v1" }] };
    described ??= withExamples(routes.getOpenAPI31Document(info) as Document);
    return described;
  };
  routes.get("/api/openapi.json", (c) => c.json(describe()));
  routes.get("/docs", (c) => c.html(docsPage(describe())));
  return routes;
}

export type Api = ReturnType<typeof createApi>;
