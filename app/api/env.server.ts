import type { Config } from "../config.server.ts";
import type { Backups } from "../db/backup.server.ts";
import type { UserRow } from "../db/tables.ts";
import type { Files } from "../files/files.server.ts";
import type { Providers } from "../intelligence/discover.server.ts";
import type { Services as RunServices, Runs } from "../intelligence/runs.server.ts";
import type { Mail } from "../mail.server.ts";
import type { Changes } from "../realtime/changes.server.ts";
import type { Redis } from "../redis.server.ts";

/** What every endpoint may use. Made once a process. */
export type Services = RunServices & {
  changes: Changes;
  config: Pick<Config, "signup" | "publicUrl" | "dataDir"> & Providers;
  runs: Runs;
  mail: Mail;
  files: Files;
  backups: Backups | undefined;
  /** Where several processes count attempts together; without it each counts its own. */
  redis: Redis | undefined;
  /** Derives session tokens. */
  tokenKey: Buffer;
  /** Encrypts the secrets of authenticator apps. */
  authenticatorKey: Buffer;
};

/** Who asks: the account behind the bearer token. */
export type Person = Pick<UserRow, "id" | "role" | "status"> & {
  /** Empty for a program with a key. */
  sessionId: string;
};

export type ApiEnv = {
  Bindings: { ip?: string };
  Variables: {
    services: Services;
    requestId: string;
    person: Person;
    /** Of the calls that are counted; `reset` in seconds. */
    rateLimit?: { limit: number; remaining: number; reset: number };
  };
};
