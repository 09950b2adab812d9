import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { createApi } from "../../app/api/api.server.ts";
import { hashCost } from "../../app/api/auth/passwords.server.ts";
import { answeringBatches } from "../../app/api/batches/answer-rows.server.ts";
import { sendQueued } from "../../app/api/chats/queued.server.ts";
import type { Services } from "../../app/api/env.server.ts";
import { workingOnErrands } from "../../app/api/errands/work.server.ts";
import { importing } from "../../app/api/imports/import-job.server.ts";
import { mailAnswering } from "../../app/api/mail/answer.server.ts";
import { vapidKeys } from "../../app/api/notifications/push-service.server.ts";
import { exporting } from "../../app/api/users/export-job.server.ts";
import { Artifacts } from "../../app/artifacts/artifacts.server.ts";
import { keepingArtifacts } from "../../app/artifacts/keep-file.server.ts";
import { LastCopy } from "../../app/backups/nightly.server.ts";
import { Processes } from "../../app/db/processes/processes.server.ts";
import { secretKeys } from "../../app/db/stored-secrets.server.ts";
import { meaningsLearning } from "../../app/embeddings/learn-meanings.server.ts";
import { SearchModel } from "../../app/embeddings/search-model.server.ts";
import { tellingWebhooks } from "../../app/events/webhooks.server.ts";
import { lookingAtFolders } from "../../app/files/drives/look.server.ts";
import { Files } from "../../app/files/files.server.ts";
import { readBytes } from "../../app/files/read-document.server.ts";
import { FolderStorage } from "../../app/files/storage/folder.server.ts";
import type { Storage } from "../../app/files/storage/storage.server.ts";
import { Jobs } from "../../app/jobs/jobs.server.ts";
import { Outbox } from "../../app/jobs/outbox.server.ts";
import type { Config } from "../../app/process/config.server.ts";
import { deriveKey } from "../../app/process/crypto.server.ts";
import { createLog } from "../../app/process/log.server.ts";
import { Mail } from "../../app/process/network/mail.server.ts";
import { Changes } from "../../app/realtime/changes.server.ts";
import type { Chunk } from "../../app/replies/chunk.ts";
import { lookForModels } from "../../app/replies/providers/discover.server.ts";
import { Runs } from "../../app/replies/running/runs.server.ts";
import { Turns } from "../../app/replies/turns.server.ts";
import type { Program } from "../../app/tools/mcp/server.ts";
import { Toolbox } from "../../app/tools/toolbox.server.ts";
import type { TestEngine } from "./engines.ts";
import { password } from "./password.ts";

const secret = "s".repeat(32);
Object.assign(hashCost, { memoryCost: 64, timeCost: 1 });

const providers = {
  openai: { apiKey: undefined, baseUrl: undefined },
  anthropic: { apiKey: undefined, baseUrl: undefined },
  google: { apiKey: undefined },
  ollamaBaseUrl: "http://127.0.0.1:9",
};
const noMail: Config["mail"] = { smtpUrl: undefined, mailTo: undefined, mailFrom: undefined };

type Answer = { status: number; headers: Headers; body: never; text: string };
const aiNotice = "Contesta una máquina.";

export type Api = Awaited<ReturnType<typeof openApi>>;
export type Account = { token: string; refresh: string; id: string; email: string };

/** The API over a fresh database, called with Requests as any program would. */
export async function openApi(
  engine: TestEngine,
  {
    signup = "open" as "open" | "closed",
    passwordSignin = true,
    modelSilence = 2000,
    localPace = 0,
    adminReads = "reason" as Config["adminReads"],
    mail = noMail,
    mailIn = undefined as Config["mailIn"],
    programs = {} as Record<string, Program>,
    storage = undefined as Storage | undefined,
  } = {},
) {
  const database = await engine.open();
  const { db } = database;
  const log = createLog("silent");
  const { dataDir } = database;
  const { clock } = database;
  const processes = new Processes({ db, engine: database.engine, clock, log });
  const changes = new Changes(database.notices);
  const jobs = new Jobs({ db, engine: database.engine, clock, processes, changes, log });
  const stored = storage ?? new FolderStorage(join(dataDir, "files"));
  const files = new Files({ db, engine: database.engine, storage: stored, jobs });
  const { modelKey, toolKey } = secretKeys(secret);
  const searchModel = new SearchModel({ db, modelKey, log });
  const artifacts = new Artifacts({ db, engine: database.engine, jobs });
  jobs.handle("artifact", keepingArtifacts({ db, files, jobs }));
  jobs.handle("import", importing({ db, files }));
  jobs.handle("export", exporting({ db, storage: stored, log, config: { aiNotice } }));
  jobs.handle("folder", lookingAtFolders({ db, clock, files, toolKey }));
  jobs.handle("webhook", tellingWebhooks({ db, clock, toolKey }));
  jobs.handle("meanings", meaningsLearning({ db, engine: database.engine, searchModel }));
  const running = {
    db,
    engine: database.engine,
    clock,
    processes,
    log,
    modelKey,
    modelSilence,
    localPace,
    changes,
    files,
    storage: files.storage,
    searchModel,
    artifacts,
    toolKey,
    turns: new Turns({ db, engine: database.engine, processes, log }),
    toolbox: new Toolbox({ db, engine: database.engine, log, searchModel, artifacts, toolKey, programs, readBytes }),
  };
  await running.processes.join(() => ({ replies: 0, memory: 0, delay: 0 }));
  const runs = new Runs(running);
  const services: Services = {
    ...running,
    runs,
    backups: database.backups,
    redis: undefined,
    pool: database.pool,
    jobs,
    mail: new Outbox({ db, jobs, mail: await Mail.open(mail), mailKey: deriveKey(secret, "mail"), log }),
    config: {
      signup,
      passwordSignin,
      corsOrigins: [],
      aiNotice,
      adminReads,
      controller: { name: "Asociación Ejemplo", contact: undefined, dataProtectionOfficer: undefined },
      publicUrl: "https://tertulia.example",
      mailIn,
      dataDir,
      ...providers,
    },
    tokenKey: deriveKey(secret, "session tokens"),
    receiptKey: deriveKey(secret, "receipts"),
    pushKeys: vapidKeys(deriveKey(secret, "push")),
    accessKey: secretKeys(secret).accessKey,
    authenticatorKey: secretKeys(secret).authenticatorKey,
    auditKey: secretKeys(secret).auditKey,
    lastCopy: new LastCopy(undefined),
  };
  jobs.handle("batch", answeringBatches(services));
  jobs.handle("errand", workingOnErrands(services));
  jobs.handle("mail-answer", mailAnswering(services));
  runs.sendQueuedBy((chatId, ended) => sendQueued(services, chatId, ended));
  await jobs.start();
  await lookForModels(running, providers).stop();
  const api = createApi(services);

  async function call(
    method: string,
    path: string,
    { token = "", json = undefined as unknown, headers = {} } = {},
  ): Promise<Answer> {
    const response = await api.fetch(
      new Request(`http://api${path}`, {
        method,
        headers: {
          ...(json !== undefined && { "Content-Type": "application/json" }),
          ...(token && { Authorization: `Bearer ${token}` }),
          ...headers,
        },
        ...(json !== undefined && { body: typeof json === "string" ? json : JSON.stringify(json) }),
      }),
      { ip: "127.0.0.1" },
    );
    const text = await response.text();
    const isJson = response.headers.get("Content-Type")?.match(/^application\/(problem\+)?json/);
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (isJson ? JSON.parse(text) : undefined) as never,
    };
  }

  async function signUp(name = "Ana"): Promise<Account> {
    const email = `${name.toLowerCase()}-${randomBytes(4).toString("hex")}@ejemplo.es`;
    const answer = await call("POST", "/auth/signup", { json: { name, email, password } });
    const session = await call("GET", "/auth/session", { token: answer.text });
    const { user } = session.body as { user: { id: string } };
    return { token: answer.text, refresh: refreshOf(answer.headers), id: user.id, email };
  }

  /** Says, as an administrator, what something of somebody else's is read for. */
  const inspect = (token: string, resource: string, id: string) =>
    call("POST", "/api/inspection", { token, json: { resource, id, purpose: "Para una prueba" } });

  /** Sends to the conversation endpoint and reads the stream to its end. */
  async function converse(token: string, json: Record<string, unknown>): Promise<Chunk[]> {
    const answer = await call("POST", "/api/intelligence/conversation", { token, json });
    if (answer.status !== 200) throw new Error(answer.text);
    return parseChunks(answer.text);
  }

  /** Starts a reply and answers its ids at once. */
  async function start(token: string, json: Record<string, unknown>): Promise<Extract<Chunk, { type: "start" }>> {
    const response = await api.fetch(
      new Request("http://api/api/intelligence/conversation", {
        method: "POST",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
        body: JSON.stringify(json),
      }),
      { ip: "127.0.0.1" },
    );
    const reader = response.body?.getReader();
    const first = await reader?.read();
    await reader?.cancel();
    return parseChunks(new TextDecoder().decode(first?.value))[0] as Extract<Chunk, { type: "start" }>;
  }

  /** Uploads files as a form does. */
  async function upload(
    token: string,
    sent: File[],
    fields: Record<string, string> = {},
    path = "/api/file/uploads",
  ): Promise<Answer> {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    for (const file of sent) body.append("files", file);
    const response = await api.fetch(
      new Request(`http://api${path}`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}` },
        body,
      }),
      { ip: "127.0.0.1" },
    );
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as never };
  }

  return {
    call,
    upload,
    /** The answer itself, for what is no text. */
    fetch: async (
      path: string,
      token: string,
      { headers = {}, ...init }: RequestInit & { headers?: Record<string, string> } = {},
    ) =>
      api.fetch(
        new Request(`http://api${path}`, { ...init, headers: { Authorization: `Bearer ${token}`, ...headers } }),
        { ip: "127.0.0.1" },
      ),
    signUp,
    inspect,
    converse,
    start,
    services,
    notices: database.notices,
    db,
    async close() {
      await jobs.close();
      await runs.close(0);
      await running.toolbox.close();
      await database.drop();
    },
  };
}

/** How a reader that nothing keeps from it reads a reply. */
export const fromItsBeginning = {
  known: { after: 0 },
  arrive: () => ({ signal: new AbortController().signal, leave: () => {} }),
};

export const parseChunks = (text: string): Chunk[] =>
  text
    .split("\n\n")
    .filter(Boolean)
    .map((part) => JSON.parse(part) as Chunk);

export const textOf = (chunks: Chunk[]): string =>
  chunks.map((chunk) => (chunk.type === "text" ? chunk.text : "")).join("");

export function refreshOf(headers: Headers): string {
  return decodeURIComponent(/refresh=([^;]+)/.exec(headers.get("Set-Cookie") ?? "")?.[1] ?? "");
}
