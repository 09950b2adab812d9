import type { Pool } from "pg";
import type { LastCopy } from "../backups/nightly.server.ts";
import type { Backups } from "../db/sqlite/backup.server.ts";
import type { RoomRow, UserRow } from "../db/tables.ts";
import type { SearchModel } from "../embeddings/search-model.server.ts";
import type { ReceivedForm } from "../http/received-form.server.ts";
import type { Jobs } from "../jobs/jobs.server.ts";
import type { Outbox } from "../jobs/outbox.server.ts";
import type { Config } from "../process/config.server.ts";
import type { Redis } from "../process/network/redis.server.ts";
import type { Changes } from "../realtime/changes.server.ts";
import type { Chunk } from "../replies/chunk.ts";
import type { Providers } from "../replies/providers/model-lists.server.ts";
import type { RunServices, Runs } from "../replies/running/runs.server.ts";
import type { PushKeys } from "./notifications/push-service.server.ts";

/** Services for all endpoints. Made once a process. */
export type Services = RunServices & {
  changes: Changes;
  config: Pick<
    Config,
    "signup" | "passwordSignin" | "publicUrl" | "dataDir" | "corsOrigins" | "controller" | "aiNotice" | "adminReads"
  > &
    Partial<
      Pick<
        Config,
        | "databaseUrl"
        | "redisUrl"
        | "scimToken"
        | "mailIn"
        | "authProxy"
        | "events"
        | "accessLog"
        | "backup"
        | "backupPassphrase"
        | "bucket"
        | "metricsToken"
      >
    > & {
      mail?: Pick<Config["mail"], "smtpUrl">;
    } & Providers;
  searchModel: SearchModel;
  runs: Runs;
  /** Work in the background. */
  jobs: Jobs;
  mail: Outbox;
  backups: Backups | undefined;
  /** Present where several processes count attempts together. */
  redis: Redis | undefined;
  /** The connections to PostgreSQL; present where several processes count attempts without Redis. */
  pool: Pool | undefined;
  /** Encrypts the secrets of tools. */
  toolKey: Buffer;
  /** Derives session tokens. */
  tokenKey: Buffer;
  /** Secret bytes of the key that receipts are signed with. */
  receiptKey: Buffer;
  /** Encrypts the secrets of accesses, and the data carried during a sign-in with an access. */
  accessKey: Buffer;
  /** The pair of keys by which push services know this installation. */
  pushKeys: PushKeys;
  /** Encrypts the secrets of authenticator apps. */
  authenticatorKey: Buffer;
  /** Encrypts the keys that seal the audit trail (`sealKeys`). */
  auditKey: Buffer;
  /** The copies of each night. */
  lastCopy: LastCopy;
};

/** The account behind the bearer token. */
export type Person = Pick<UserRow, "id" | "role" | "status"> & {
  /** Empty without a session: for an API key, and for later work in the name of the person. */
  sessionId: string;
  /** Only for a program: the id of its key. */
  keyId?: string;
  /** Whether there are pages that they have to accept before they go on. */
  owesTerms: boolean;
  /** Whether the house requires a second step, and the person signed in without one. */
  owesSecondStep: boolean;
};

/** Somebody in a room, who has no account. `sessionId`: session that their conversation, `chatId`, is deleted with. */
export type Guest = { sessionId: string; chatId: string; name: string; room: RoomRow };

/** Values that go over as they are between the API and a page of the same process, instead of being serialised to be parsed again. */
export type InProcess = {
  /** The body of the call, if it has files: the page has read it already. */
  received: ReceivedForm | undefined;
  /** Takes the chunks of a reply in place of a body. */
  handOver(chunks: AsyncGenerator<Chunk[]>): void;
  /** The persons behind tokens, as far as other reads of the same page have found out. Absent once the page has written or is sent. */
  people: Map<string, Promise<Person | undefined>> | undefined;
};

export type ApiEnv = {
  /**
   * `answeredBy`: gets the route's pattern, for the metrics of the server that offers the API over the network. `ofMcp`: the call comes by
   * /mcp, which accepts the keys of programs connected by OAuth.
   */
  Bindings: { ip: string; answeredBy?(route: string): void; ofMcp?: boolean | undefined } & Partial<InProcess>;
  Variables: {
    services: Services;
    requestId: string;
    person: Person;
    /** In the place of a person: a guest of a room. */
    guest: Guest;
    /** The limit for bodies of this route in bytes, if it is not the usual one for JSON. */
    bodySize?: number;
    /** The company in whose format this route also writes its errors. */
    errorsOf?: "openai" | "anthropic" | "ollama";
    /** The rate limit of this call that will be reached first; `reset` in seconds. */
    rateLimit?: { limit: number; remaining: number; reset: number };
    /** Network of a sign-in that was counted. */
    signinFrom?: string;
  };
};
