import { setTimeout as wait } from "node:timers/promises";
import { addAccess, refuseWithoutEntry } from "../api/access/first-access.server.ts";
import { answeringBatches } from "../api/batches/answer-rows.server.ts";
import { sendingForgotten, sendQueued } from "../api/chats/queued.server.ts";
import type { Services } from "../api/env.server.ts";
import { workingOnErrands } from "../api/errands/work.server.ts";
import { importing } from "../api/imports/import-job.server.ts";
import { resumeAll } from "../api/jobs/go-on.server.ts";
import { mailAnswering } from "../api/mail/answer.server.ts";
import { fetchingMail } from "../api/mail/poll.server.ts";
import { searchingModels } from "../api/models/nightly-search.server.ts";
import { replyPushing } from "../api/notifications/push.server.ts";
import { vapidKeys } from "../api/notifications/push-service.server.ts";
import { replyNotifying } from "../api/notifications/reply-notices.server.ts";
import { askingDue } from "../api/schedules/ask-due.server.ts";
import { exporting } from "../api/users/export-job.server.ts";
import { Artifacts } from "../artifacts/artifacts.server.ts";
import { keepingArtifacts } from "../artifacts/keep-file.server.ts";
import { backingUp, LastCopy } from "../backups/nightly.server.ts";
import { sealAudit } from "../db/audit/seal.server.ts";
import { openDatabase } from "../db/connection.server.ts";
import { alone } from "../db/processes/alone.server.ts";
import { Processes } from "../db/processes/processes.server.ts";
import { countLost, secretKeys } from "../db/stored-secrets.server.ts";
import { meaningsLearning } from "../embeddings/learn-meanings.server.ts";
import { SearchModel } from "../embeddings/search-model.server.ts";
import { tellingEvents } from "../events/telling.server.ts";
import { tellingWebhooks } from "../events/webhooks.server.ts";
import { lookingAtFolders } from "../files/drives/look.server.ts";
import { Files } from "../files/files.server.ts";
import { readBytes } from "../files/read-document.server.ts";
import { FileRefused } from "../files/refused.server.ts";
import { openStorage } from "../files/storage/open.server.ts";
import { Jobs } from "../jobs/jobs.server.ts";
import { wordsLearning } from "../jobs/learn-words.server.ts";
import { Outbox } from "../jobs/outbox.server.ts";
import type { Config } from "../process/config.server.ts";
import { deriveKey } from "../process/crypto.server.ts";
import { createLog, type Log } from "../process/log.server.ts";
import { guardConnections } from "../process/network/addresses.server.ts";
import { Mail } from "../process/network/mail.server.ts";
import { openRedis } from "../process/network/redis.server.ts";
import { EventLoop } from "../process/telemetry/event-loop.server.ts";
import { memoryInUse } from "../process/telemetry/memory.server.ts";
import { watch } from "../process/telemetry/metrics.server.ts";
import { Changes } from "../realtime/changes.server.ts";
import { lookForModels } from "../replies/providers/discover.server.ts";
import { Runs } from "../replies/running/runs.server.ts";
import { Turns } from "../replies/turns.server.ts";
import { addTools, programsIn } from "../tools/first-tools.server.ts";
import { ToolRefused } from "../tools/tool.server.ts";
import { Toolbox } from "../tools/toolbox.server.ts";
import { upkeep } from "./upkeep.server.ts";

const sealEvery = 5_000;
// In ms. When all processes end at once, no process may leave its replies to another that is ending too.
const othersLeaveWithin = 300;
const lastWords = 1_000;

/** Resources that a process has opened. Without `services` the API is on another machine, and this process serves only pages. */
export type Opened = (
  | { services: Services; config: Config }
  | { services: undefined; config: Config & { apiBaseUrl: string } }
) & {
  log: Log;
  /**
   * Lets running replies end for `patience` ms, or leaves them to another process, then closes everything. `answered` resolves when
   * no request is under way any more: pages that follow replies still read from the database.
   */
  close(patience: number, answered: Promise<unknown>): Promise<void>;
};

/** Opens database and replies for this process: migrates, finds interrupted replies, makes the first models. */
export async function openServices(config: Config): Promise<Opened> {
  guardConnections();
  const log = createLog(config.logLevel);
  const { db, engine, clock, pool, backups, notices, close } = await openDatabase(config, log);
  const keys = secretKeys(config.secret);
  const lost = await countLost(db, keys);
  if (lost.models + lost.tools + lost.accesses + lost.authenticators > 0) {
    log.warn(lost, "hay claves y segundos pasos que no se pueden leer: se guardaron con otro secreto");
  }
  const storage = await openStorage(config, log);
  const processes = new Processes({ db, engine, clock, log });
  const changes = new Changes(notices);
  const jobs = new Jobs({ db, engine, clock, processes, changes, log });
  const files = new Files({ db, engine, storage, jobs });
  const artifacts = new Artifacts({ db, engine, jobs });
  const searchModel = new SearchModel({ db, modelKey: keys.modelKey, log });
  const running = {
    db,
    engine,
    clock,
    processes,
    log,
    modelKey: keys.modelKey,
    modelSilence: config.modelSilence,
    localPace: 30,
    changes,
    files,
    storage,
    artifacts,
    searchModel,
    toolKey: keys.toolKey,
    turns: new Turns({ db, engine, processes, log }),
    toolbox: new Toolbox({
      db,
      engine,
      log,
      searchModel,
      artifacts,
      toolKey: keys.toolKey,
      readBytes: (bytes, name) =>
        readBytes(bytes, name).catch((cause) => {
          throw cause instanceof FileRefused ? new ToolRefused(`«${name}» ${cause.message}`, { cause }) : cause;
        }),
      programs: programsIn(config.toolServers),
    }),
  };
  await alone(running, "settings", () => applySettings({ ...running, accessKey: keys.accessKey }, config));
  const runs = new Runs(running);
  const sealing = keepSealing(running, keys.auditKey);
  const mail = await Mail.open(config.mail);
  const outbox = new Outbox({ db, jobs, mail, mailKey: deriveKey(config.secret, "mail"), log });
  const pushKeys = vapidKeys(deriveKey(config.secret, "push"));
  const redis = config.redisUrl ? await openRedis(config.redisUrl, log) : undefined;
  const found = await runs.adopt();
  if (found.resumed + found.interrupted > 0) log.warn(found, "respuestas que dejó a medias el último cierre");
  const lastCopy = new LastCopy(config.backup);
  const eventLoop = new EventLoop();
  measure({ runs, jobs, pool, lastCopy });
  await processes.join(() => ({
    replies: runs.underway,
    memory: memoryInUse(),
    delay: eventLoop.worst(),
  }));
  const services: Services = {
    ...running,
    runs,
    jobs,
    mail: outbox,
    backups,
    redis,
    pool,
    config,
    tokenKey: deriveKey(config.secret, "session tokens"),
    receiptKey: deriveKey(config.secret, "receipts"),
    pushKeys,
    accessKey: keys.accessKey,
    authenticatorKey: keys.authenticatorKey,
    auditKey: keys.auditKey,
    lastCopy,
  };
  handleJobs(services, config);
  runs.sendQueuedBy((chatId, ended) => sendQueued(services, chatId, ended));
  await resumeAll(services, "batch");
  await resumeAll(services, "errand");
  await jobs.start();
  // Not awaited: model servers may be slow to answer.
  const discovery = lookForModels(running, config);
  return {
    services,
    config,
    log,
    async close(patience, answered) {
      const late = wait(Math.max(patience, lastWords), undefined, { ref: false });
      // Jobs are closed before the process leaves the list: another process begins the jobs of a process that is not listed.
      await jobs.close();
      await processes.leave();
      eventLoop.stop();
      await discovery.stop();
      await sealing.stop();
      if (patience > 0 && engine === "postgres") await wait(othersLeaveWithin);
      mail.close();
      await runs.close(patience);
      // Pages whose reply has ended, or goes on in another process, still have lines to send.
      await Promise.race([answered, engine === "postgres" ? late : wait(lastWords, undefined, { ref: false })]);
      await running.toolbox.close();
      redis?.destroy();
      storage.close();
      await close();
    },
  };
}

/** Makes what the settings name: tools, the organisation's sign-in. Throws ConfigError where nobody could sign in. */
async function applySettings(
  services: Pick<Services, "db" | "log" | "toolbox" | "toolKey" | "accessKey">,
  config: Config,
): Promise<void> {
  await addTools(services, config);
  services.toolbox
    .askAllNew()
    .catch((error) => services.log.error({ err: error }, "no se pudo preguntar a los servidores de herramientas"));
  await addAccess(services, config.oidc);
  await refuseWithoutEntry(services.db, config);
}

/** The work in the background that this process takes over from `jobs.start` on. */
function handleJobs(services: Services, config: Config): void {
  const { db, jobs, log, storage } = services;
  jobs.handle("artifact", keepingArtifacts(services));
  jobs.handle("import", importing(services));
  jobs.handle("export", exporting({ ...services, config }));
  jobs.handle("upkeep", upkeep(services));
  jobs.handle("folder", lookingAtFolders(services));
  jobs.handle("words", wordsLearning(services));
  jobs.handle("meanings", meaningsLearning(services));
  jobs.handle("reply-notice", replyNotifying(services));
  jobs.handle("reply-push", replyPushing(services));
  jobs.handle("models", searchingModels(services));
  jobs.handle("batch", answeringBatches(services));
  jobs.handle("errand", workingOnErrands(services));
  jobs.handle("schedules", askingDue(services));
  jobs.handle("mail-answer", mailAnswering(services));
  if (config.mailIn?.imap) jobs.handle("mail", fetchingMail(services, config.mailIn.imap));
  jobs.handle("queued", sendingForgotten(services));
  if (config.backup) jobs.handle("backup", backingUp(config.backup, config, storage, log));
  jobs.handle("webhook", tellingWebhooks(services));
  if (config.events) jobs.handle("events", tellingEvents(db, config.events));
}

/** Metrics of what this process does. */
function measure({ runs, jobs, pool, lastCopy }: Pick<Services, "runs" | "jobs" | "pool" | "lastCopy">): void {
  watch({
    replies_running: { help: "Replies that are being written.", value: () => runs.underway },
    jobs_running: { help: "Jobs that this process runs.", value: () => jobs.underway },
    ...(lastCopy.isWanted && {
      backup_age_seconds: {
        aggregator: "min",
        help: "Since the last good copy; NaN where there is none, or its place does not answer.",
        value: () =>
          lastCopy.at().then(
            (at) => (at ? (Date.now() - at) / 1000 : Number.NaN),
            () => Number.NaN,
          ),
      },
    }),
    ...(pool && {
      pool_connections: { help: "Connections to PostgreSQL.", value: () => pool.totalCount },
      pool_idle: { help: "Connections to PostgreSQL that nobody uses.", value: () => pool.idleCount },
      pool_waiting: { help: "Queries that wait for a connection to PostgreSQL.", value: () => pool.waitingCount },
    }),
  });
}

/** Seals new entries of the audit trail, now and every few seconds; each seal is logged, so that it also exists outside the database. */
function keepSealing({ db, engine, log }: Pick<Services, "db" | "engine" | "log">, auditKey: Buffer) {
  let running: Promise<void> | undefined;
  const seal = () => {
    running ??= sealAudit(db, engine, auditKey)
      .then((last) => last && log.info(last, "auditoría sellada"))
      .catch((error) => log.error({ err: error }, "no se pudo sellar la auditoría"))
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  void seal();
  const timer = setInterval(seal, sealEvery).unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
