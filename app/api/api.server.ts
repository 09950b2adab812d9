import { OpenAPIHono, z } from "@hono/zod-openapi";
import type { Hono } from "hono";
import { cors } from "hono/cors";
import { routePath } from "hono/route";
import type { MergeSchemaPath } from "hono/types";
import { getPath } from "hono/utils/url";
import { v7 as newId } from "uuid";
import { currentTrace } from "../process/telemetry/request-trace.server.ts";
import { LimitReached } from "../replies/usage.server.ts";
import { accesses } from "./access/accesses.server.ts";
import { backchannel } from "./access/backchannel.server.ts";
import { invitationLinkOf, invitationLinks } from "./access/invitation-links.server.ts";
import { invitations } from "./access/invitations.server.ts";
import { ldapEntries } from "./access/ldap.server.ts";
import { oidcEntries } from "./access/oidc.server.ts";
import { refusalsOf } from "./allowed-methods.server.ts";
import { artifactShares, sharedArtifacts } from "./artifacts/artifact-shares.server.ts";
import { artifacts } from "./artifacts/artifacts.server.ts";
import { assistants } from "./assistants/assistants.server.ts";
import { templates } from "./assistants/templates.server.ts";
import { apiKeys } from "./auth/api-keys.server.ts";
import { authenticator } from "./auth/authenticator.server.ts";
import { connectionTokens } from "./auth/connection-tokens.server.ts";
import { connections } from "./auth/connections.server.ts";
import { entryLinks } from "./auth/entry-links.server.ts";
import { openSessions } from "./auth/open-sessions.server.ts";
import { passkeyEntries } from "./auth/passkey-entries.server.ts";
import { passkeys } from "./auth/passkeys.server.ts";
import { passwordResets } from "./auth/password-resets.server.ts";
import { sessions } from "./auth/sessions.server.ts";
import { batches } from "./batches/batches.server.ts";
import { chatFiles } from "./chats/chat-files.server.ts";
import { chats } from "./chats/chats.server.ts";
import { comparisons } from "./chats/compared.server.ts";
import { conversation } from "./chats/conversation.server.ts";
import { dashboard } from "./chats/dashboard.server.ts";
import { decisions } from "./chats/decisions.server.ts";
import { messages } from "./chats/messages.server.ts";
import { prompts } from "./chats/prompts.server.ts";
import { queuedMessages } from "./chats/queued.server.ts";
import { search } from "./chats/search.server.ts";
import { chatCopies } from "./chats/shared/chat-copies.server.ts";
import { chatShares, shares } from "./chats/shared/shares.server.ts";
import { shownChats } from "./chats/shared/shown-chats.server.ts";
import { summaries } from "./chats/summaries.server.ts";
import { audioForPrograms } from "./doors/audio.server.ts";
import { chatCompletions } from "./doors/chat-completions.server.ts";
import { embeddingsForPrograms } from "./doors/embeddings.server.ts";
import { imagesForPrograms } from "./doors/images.server.ts";
import { messagesOfPrograms } from "./doors/messages.server.ts";
import { ollama } from "./doors/ollama/ollama.server.ts";
import { openAiAbsent } from "./doors/openai-clients.server.ts";
import { responses } from "./doors/responses.server.ts";
import { driveAccounts } from "./drives/drive-accounts.server.ts";
import { drives } from "./drives/drives.server.ts";
import { folders } from "./drives/folders.server.ts";
import type { ApiEnv, Services } from "./env.server.ts";
import { errands } from "./errands/errands.server.ts";
import { files } from "./files/files.server.ts";
import { uploads } from "./files/uploads.server.ts";
import { groups } from "./groups/groups.server.ts";
import { members } from "./groups/members.server.ts";
import { boundBody } from "./http/bodies.server.ts";
import { etags } from "./http/etags.server.ts";
import { answerError, Problem } from "./http/problem.server.ts";
import { forgetSuccess, tellRateLimit } from "./http/rate-limit.server.ts";
import { reads, routesOf } from "./http/resource.server.ts";
import { imports } from "./imports/imports.server.ts";
import { inspections } from "./inspections/inspections.server.ts";
import { failedJobs, jobs } from "./jobs/jobs.server.ts";
import { incomingMail } from "./mail/incoming.server.ts";
import { memories } from "./memories/memories.server.ts";
import { modelTrials } from "./models/model-trial.server.ts";
import { models } from "./models/models.server.ts";
import { searchModels } from "./models/search-models.server.ts";
import { trainings } from "./models/trainings.server.ts";
import { devices } from "./notifications/devices.server.ts";
import { replyFeeds } from "./notifications/reply-feed.server.ts";
import { replyNotices } from "./notifications/reply-notices.server.ts";
import { docsPage } from "./openapi/docs.server.ts";
import { type OpenApiDocument, withExamples } from "./openapi/openapi.server.ts";
import { messageOpinions } from "./opinions/message-opinions.server.ts";
import { opinions, opinionTrials } from "./opinions/opinions.server.ts";
import { projectMembers } from "./projects/project-members.server.ts";
import { projects } from "./projects/projects.server.ts";
import { messageReceipts, receipts } from "./receipts/receipts.server.ts";
import { holds } from "./retention/holds.server.ts";
import { retentionDue } from "./retention/retention-due.server.ts";
import { retentions } from "./retention/retentions.server.ts";
import { guestEntry } from "./rooms/guest-entry.server.ts";
import { guests } from "./rooms/guests.server.ts";
import { roomOpening } from "./rooms/opening.server.ts";
import { roomGuests } from "./rooms/room-guests.server.ts";
import { rooms } from "./rooms/rooms.server.ts";
import { schedules } from "./schedules/schedules.server.ts";
import { scim } from "./scim/scim.server.ts";
import { emails } from "./site/emails.server.ts";
import { house } from "./site/house.server.ts";
import { houseImages } from "./site/house-images.server.ts";
import { inbox } from "./site/inbox.server.ts";
import { notices, readings } from "./site/notices.server.ts";
import { pages } from "./site/pages.server.ts";
import { skillFiles } from "./skills/skill-files.server.ts";
import { skills } from "./skills/skills.server.ts";
import { auditChecks } from "./system/audit-checks.server.ts";
import { auditTrail } from "./system/audit-trail.server.ts";
import { diagnoses } from "./system/diagnoses.server.ts";
import { figuresOfAll } from "./system/figures.server.ts";
import { processing } from "./system/processing.server.ts";
import { system } from "./system/system.server.ts";
import { systemBackups } from "./system/system-backups.server.ts";
import { terms } from "./terms/terms.server.ts";
import { toolAccounts } from "./tools/tool-accounts.server.ts";
import { toolApps } from "./tools/tool-apps.server.ts";
import { toolServers } from "./tools/tool-servers.server.ts";
import { tools } from "./tools/tools.server.ts";
import { accountExports } from "./users/exports.server.ts";
import { subscriptions } from "./users/subscriptions.server.ts";
import { usage } from "./users/usage.server.ts";
import { users } from "./users/users.server.ts";
import { speeches } from "./voice/speeches.server.ts";
import { voices } from "./voice/voice.server.ts";
import { voiceModels } from "./voice/voice-models.server.ts";
import { tellLimit } from "./webhooks/limit-reached.server.ts";
import { webhooks } from "./webhooks/webhooks.server.ts";

// Zod's own Spanish messages, for errors that have no sentence in the schemas here.
z.config(z.locales.es());

/** The paths of the API and the routes at each, in order: if two of them fit a call, the first one answers it. */
const mounted = [
  ["/", chatCompletions],
  ["/", responses],
  ["/", messagesOfPrograms],
  ["/", embeddingsForPrograms],
  ["/", audioForPrograms],
  ["/", imagesForPrograms],
  ["/", openAiAbsent],
  ["/ollama/api", ollama],
  ["/auth", sessions],
  ["/auth/sessions", openSessions],
  ["/auth/authenticator", authenticator],
  ["/auth/passkey", passkeys],
  ["/auth/signin/passkey", passkeyEntries],
  ["/auth/reset", passwordResets],
  ["/auth/link", entryLinks],
  ["/auth/invitation", invitationLinks],
  ["/auth/oidc", backchannel],
  ["/auth/oidc", oidcEntries],
  ["/auth/ldap", ldapEntries],
  ["/auth/oauth", connections],
  ["/auth/oauth", connectionTokens],
  ["/scim/v2", scim],
  ["/api/mail", incomingMail],
  ["/api/key", apiKeys],
  ["/api/user", users],
  ["/api/user", accountExports],
  ["/api/chat", shownChats],
  ["/api/chat", chatCopies],
  ["/api/chat", chats],
  ["/api/chat", chatFiles],
  ["/api/chat", chatShares],
  ["/api/chat", queuedMessages],
  ["/api/chat", comparisons],
  ["/api/chat", imports],
  ["/api/share", shares],
  ["/api/share/artifact", sharedArtifacts],
  ["/api/message", messages],
  ["/api/message", prompts],
  ["/api/message", decisions],
  ["/api/message", toolApps],
  ["/api/message", messageOpinions],
  ["/api/message", speeches],
  ["/api/message", messageReceipts],
  ["/api/receipt", receipts],
  ["/api/voice", voices],
  ["/api/voice-model", routesOf(voiceModels)],
  ["/api/opinion", reads(opinions)],
  ["/api/opinion", opinionTrials],
  ["/api/model", routesOf(models)],
  ["/api/assistant", routesOf(assistants)],
  ["/api/skill", skillFiles],
  ["/api/skill", routesOf(skills)],
  ["/api/room", roomOpening],
  ["/api/room", routesOf(rooms)],
  ["/api/room", roomGuests],
  ["/api/guest", guestEntry],
  ["/api/guest", guests],
  ["/api/template", routesOf(templates)],
  ["/api/schedule", routesOf(schedules)],
  ["/api/feed", replyFeeds],
  ["/api/device", devices],
  ["/api/tool", routesOf(tools)],
  ["/api/tool", toolServers],
  ["/api/tool-account", toolAccounts],
  ["/api/webhook", routesOf(webhooks)],
  ["/api/batch", batches],
  ["/api/errand", errands],
  ["/api/memory", memories],
  ["/api/artifact", artifacts],
  ["/api/artifact", artifactShares],
  ["/api/drive", routesOf(drives)],
  ["/api/drive-account", driveAccounts],
  ["/api/folder", folders],
  ["/api/project", projects],
  ["/api/project", projectMembers],
  ["/api/file", uploads],
  ["/api/file", files],
  ["/api/page", routesOf(pages)],
  ["/api/house", house],
  ["/api/house/image", houseImages],
  ["/api/model", modelTrials],
  ["/api/audit", auditChecks],
  ["/api/audit", reads(auditTrail)],
  ["/api/email", reads(inbox)],
  ["/api/training", routesOf(trainings)],
  ["/api/search-model", routesOf(searchModels)],
  ["/api/access", routesOf(accesses)],
  ["/api/invitation", routesOf(invitations)],
  ["/api/invitation", invitationLinkOf],
  ["/api/notice", routesOf(notices)],
  ["/api/notice", readings],
  ["/api/group", routesOf(groups)],
  ["/api/member", routesOf(members)],
  ["/api/terms", terms],
  ["/api/inspection", inspections],
  ["/api/retention", routesOf(retentions)],
  ["/api/retention", retentionDue],
  ["/api/hold", routesOf(holds)],
  ["/api/summary", routesOf(summaries)],
  ["/api/subscription", routesOf(subscriptions)],
  ["/api/email", emails],
  ["/api/search", search],
  ["/api/usage", usage],
  ["/api/usage", figuresOfAll],
  ["/api/job", failedJobs],
  ["/api/job", reads(jobs)],
  ["/api/system", system],
  ["/api/system/processing", processing],
  ["/api/system/diagnosis", diagnoses],
  ["/api/system/backup", systemBackups],
  ["/api/dashboard", dashboard],
  ["/api/intelligence/conversation", conversation],
  ["/api/intelligence/conversation", replyNotices],
] as const;

type SchemaAt<Mounted> = Mounted extends readonly [
  infer Path extends string,
  OpenAPIHono<infer _Env, infer Routes, infer _Base>,
]
  ? MergeSchemaPath<Routes, Path>
  : never;

/**
 * The type that the client is made from. It is built from the table above, because in a chain of `.route()` the compiler makes a larger
 * API at each link, which takes three times the types and the time.
 */
export type Api = Hono<ApiEnv, SchemaAt<(typeof mounted)[number]>, "/">;

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
    await forgetSuccess(c);
  });
  const { corsOrigins } = services.config;
  // For pages of other sites that use an API key. Credentials are not allowed, so no cookie is sent.
  if (corsOrigins.length > 0) {
    const exposeHeaders = ["ETag", "Retry-After", "X-Request-Id", "Request-Id", "X-Should-Retry"];
    api.use(cors({ origin: corsOrigins, exposeHeaders, maxAge: 600 }));
  }
  api.use(boundBody, etags);
  api.onError(async (error, c) => {
    if (error instanceof LimitReached && error.ofPlan) await tellLimit(services, c.var.person.id, error);
    return answerError(error, c);
  });
  for (const [path, routes] of mounted) api.route(path, routes as OpenAPIHono<ApiEnv>);
  const refusal = refusalsOf(api);
  api.notFound((c) => {
    // Others' calls that do not exist here: their clients read the sentence in an error of their format.
    const [, door] = /^\/(?:v1\/)?(api|auth|ollama|messages)(?:\/|$)/.exec(c.req.path) ?? [];
    if (door !== "api" && door !== "auth")
      c.set("errorsOf", door === "ollama" ? "ollama" : door === "messages" ? "anthropic" : "openai");
    return answerError(refusal(c.req.path), c);
  });
  let described: OpenApiDocument | undefined;
  // Built on first use.
  const describe = () => {
    const info = { openapi: "3.1.0", info: { title: "Tertulia", version: "1" }, servers: [{ url: "/v1" }] };
    described ??= withExamples(api.getOpenAPI31Document(info) as OpenApiDocument);
    return described;
  };
  api.get("/api/openapi.json", (c) => c.json(describe()));
  api.get("/docs", (c) => c.html(docsPage(describe())));
  return api;
}
