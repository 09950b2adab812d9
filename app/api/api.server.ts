import { OpenAPIHono, z } from "@hono/zod-openapi";
import { cors } from "hono/cors";
import { routePath } from "hono/route";
import { getPath } from "hono/utils/url";
import { v7 as newId } from "uuid";
import { currentTrace } from "../process/telemetry/request-trace.server.ts";
import { accesses } from "./access/accesses.server.ts";
import { backchannel } from "./access/backchannel.server.ts";
import { invitationLinkOf, invitationLinks } from "./access/invitation-links.server.ts";
import { invitations } from "./access/invitations.server.ts";
import { ldapEntries } from "./access/ldap.server.ts";
import { oidcEntries } from "./access/oidc.server.ts";
import { assistants } from "./assistants/assistants.server.ts";
import { templates } from "./assistants/templates.server.ts";
import { apiKeys } from "./auth/api-keys.server.ts";
import { authenticator } from "./auth/authenticator.server.ts";
import { entryLinks } from "./auth/entry-links.server.ts";
import { openSessions } from "./auth/open-sessions.server.ts";
import { passkeyEntries } from "./auth/passkey-entries.server.ts";
import { passkeys } from "./auth/passkeys.server.ts";
import { passwordResets } from "./auth/password-resets.server.ts";
import { sessions } from "./auth/sessions.server.ts";
import { chatFiles } from "./chats/chat-files.server.ts";
import { chats } from "./chats/chats.server.ts";
import { conversation } from "./chats/conversation.server.ts";
import { dashboard } from "./chats/dashboard.server.ts";
import { decisions } from "./chats/decisions.server.ts";
import { messages } from "./chats/messages.server.ts";
import { prompts } from "./chats/prompts.server.ts";
import { search } from "./chats/search.server.ts";
import { chatCopies } from "./chats/shared/chat-copies.server.ts";
import { chatShares, shares } from "./chats/shared/shares.server.ts";
import { shownChats } from "./chats/shared/shown-chats.server.ts";
import { summaries } from "./chats/summaries.server.ts";
import type { ApiEnv, Services } from "./env.server.ts";
import { groups } from "./groups/groups.server.ts";
import { members } from "./groups/members.server.ts";
import { boundBody } from "./http/bodies.server.ts";
import { reads, writes } from "./http/crud.server.ts";
import { etags } from "./http/etags.server.ts";
import { answerError, Problem } from "./http/problem.server.ts";
import { tellRateLimit } from "./http/rate-limit.server.ts";
import { imports } from "./imports/imports.server.ts";
import { inspections } from "./inspections/inspections.server.ts";
import { failedJobs, jobs } from "./jobs/jobs.server.ts";
import { files } from "./knowledge/files.server.ts";
import { projectMembers } from "./knowledge/project-members.server.ts";
import { projects } from "./knowledge/projects.server.ts";
import { searchModels } from "./knowledge/search-models.server.ts";
import { trainings } from "./knowledge/trainings.server.ts";
import { uploads } from "./knowledge/uploads.server.ts";
import { chatCompletions } from "./models/chat-completions.server.ts";
import { embeddingsForPrograms } from "./models/embeddings.server.ts";
import { modelTrials } from "./models/model-trial.server.ts";
import { models } from "./models/models.server.ts";
import { openAiAbsent } from "./models/openai-clients.server.ts";
import { devices } from "./notices/devices.server.ts";
import { notices, readings } from "./notices/notices.server.ts";
import { replyFeeds } from "./notices/reply-feed.server.ts";
import { replyNotices } from "./notices/reply-notices.server.ts";
import { docsPage } from "./openapi/docs.server.ts";
import { type OpenApiDocument, withExamples } from "./openapi/openapi.server.ts";
import { messageOpinions } from "./opinions/message-opinions.server.ts";
import { opinions, opinionTrials } from "./opinions/opinions.server.ts";
import { holds } from "./retention/holds.server.ts";
import { retentionDue } from "./retention/retention-due.server.ts";
import { retentions } from "./retention/retentions.server.ts";
import { schedules } from "./schedules/schedules.server.ts";
import { emails } from "./site/emails.server.ts";
import { inbox } from "./site/inbox.server.ts";
import { pageResource, pages } from "./site/pages.server.ts";
import { auditChecks } from "./system/audit-checks.server.ts";
import { auditTrail } from "./system/audit-trail.server.ts";
import { diagnoses } from "./system/diagnoses.server.ts";
import { figuresOfAll } from "./system/figures.server.ts";
import { processing } from "./system/processing.server.ts";
import { system } from "./system/system.server.ts";
import { systemBackups } from "./system/system-backups.server.ts";
import { terms } from "./terms/terms.server.ts";
import { toolServers } from "./tools/tool-servers.server.ts";
import { tools } from "./tools/tools.server.ts";
import { accountExports } from "./users/exports.server.ts";
import { subscriptions } from "./users/subscriptions.server.ts";
import { usage } from "./users/usage.server.ts";
import { users } from "./users/users.server.ts";
import { speeches } from "./voice/speeches.server.ts";
import { voices } from "./voice/voice.server.ts";
import { voiceModels } from "./voice/voice-models.server.ts";

// Zod's own Spanish messages, for what the schemas here have no sentence for.
z.config(z.locales.es());

/** The whole API. Served at /v1 and called in process by the pages. */
export function createApi(services: Services) {
  // Routes answer with and without /v1. Rewriting each request instead would cost more than the call.
  const api = new OpenAPIHono<ApiEnv>({ getPath: (request) => getPath(request).replace(/^\/v1(?=\/|$)/, "") || "/" });
  api.openAPIRegistry.registerComponent("securitySchemes", "bearer", { type: "http", scheme: "bearer" });
  api.use(async (c, next) => {
    c.set("services", services);
    c.set("requestId", currentTrace()?.requestId ?? newId());
    // PostgreSQL can't store NUL, and no id, search or filter needs one.
    if (c.req.url.includes("%00")) throw new Problem(422, "La dirección tiene caracteres que no se admiten.");
    await next();
    c.env.answeredBy?.(`/v1${routePath(c, -1)}`);
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
    .route("/", embeddingsForPrograms)
    .route("/", openAiAbsent)
    .route("/auth", sessions)
    .route("/auth/sessions", openSessions)
    .route("/auth/authenticator", authenticator)
    .route("/auth/passkey", passkeys)
    .route("/auth/signin/passkey", passkeyEntries)
    .route("/auth/reset", passwordResets)
    .route("/auth/link", entryLinks)
    .route("/auth/invitation", invitationLinks)
    .route("/auth/oidc", backchannel)
    .route("/auth/oidc", oidcEntries)
    .route("/auth/ldap", ldapEntries)
    .route("/api/key", apiKeys)
    .route("/api/user", users)
    .route("/api/user", accountExports)
    .route("/api/chat", shownChats)
    .route("/api/chat", chatCopies)
    .route("/api/chat", chats)
    .route("/api/chat", chatFiles)
    .route("/api/chat", chatShares)
    .route("/api/chat", imports)
    .route("/api/share", shares)
    .route("/api/message", messages)
    .route("/api/message", prompts)
    .route("/api/message", decisions)
    .route("/api/message", messageOpinions)
    .route("/api/message", speeches)
    .route("/api/voice", voices)
    .route("/api/voice-model", reads(voiceModels))
    .route("/api/voice-model", writes(voiceModels))
    .route("/api/opinion", reads(opinions))
    .route("/api/opinion", opinionTrials)
    .route("/api/model", models)
    .route("/api/assistant", assistants)
    .route("/api/template", templates)
    .route("/api/schedule", schedules)
    .route("/api/feed", replyFeeds)
    .route("/api/device", devices)
    .route("/api/tool", tools)
    .route("/api/tool", toolServers)
    .route("/api/project", projects)
    .route("/api/project", projectMembers)
    .route("/api/file", uploads)
    .route("/api/file", files)
    .route("/api/page", pages)
    .route("/api/page", writes(pageResource))
    .route("/api/model", modelTrials)
    .route("/api/audit", auditChecks)
    .route("/api/audit", reads(auditTrail))
    .route("/api/email", reads(inbox))
    .route("/api/training", reads(trainings))
    .route("/api/training", writes(trainings))
    .route("/api/search-model", reads(searchModels))
    .route("/api/search-model", writes(searchModels))
    .route("/api/access", reads(accesses))
    .route("/api/access", writes(accesses))
    .route("/api/invitation", reads(invitations))
    .route("/api/invitation", writes(invitations))
    .route("/api/invitation", invitationLinkOf)
    .route("/api/notice", reads(notices))
    .route("/api/notice", writes(notices))
    .route("/api/notice", readings)
    .route("/api/group", reads(groups))
    .route("/api/group", writes(groups))
    .route("/api/member", reads(members))
    .route("/api/member", writes(members))
    .route("/api/terms", terms)
    .route("/api/inspection", inspections)
    .route("/api/retention", reads(retentions))
    .route("/api/retention", writes(retentions))
    .route("/api/retention", retentionDue)
    .route("/api/hold", reads(holds))
    .route("/api/hold", writes(holds))
    .route("/api/summary", reads(summaries))
    .route("/api/summary", writes(summaries))
    .route("/api/subscription", reads(subscriptions))
    .route("/api/subscription", writes(subscriptions))
    .route("/api/email", emails)
    .route("/api/search", search)
    .route("/api/usage", usage)
    .route("/api/usage", figuresOfAll)
    .route("/api/job", failedJobs)
    .route("/api/job", reads(jobs))
    .route("/api/system", system)
    .route("/api/system/processing", processing)
    .route("/api/system/diagnosis", diagnoses)
    .route("/api/system/backup", systemBackups)
    .route("/api/dashboard", dashboard)
    .route("/api/intelligence/conversation", conversation)
    .route("/api/intelligence/conversation", replyNotices);
}

export type Api = ReturnType<typeof createApi>;
