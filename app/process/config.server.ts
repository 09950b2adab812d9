import { randomBytes } from "node:crypto";
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { makeFolder, syncFolder } from "./fsync.server.ts";

const httpUrl = (name: string) =>
  z.url({ protocol: /^https?$/, error: `${name} tiene que ser una dirección http o https` });
const flag = (name: string) =>
  z
    .enum(["0", "1", "true", "false"], `${name} tiene que ser 1 o 0`)
    .transform((value) => value === "1" || value === "true");
const whole = (name: string, min: number, max: number) =>
  z.coerce
    .number({ error: `${name} tiene que ser un número` })
    .int(`${name} tiene que ser un número entero`)
    .min(min, `${name} tiene que ser ${min} o más`)
    .max(max, `${name} tiene que ser ${max} o menos`);

function isRedis(url: string): boolean {
  try {
    return decodeURIComponent(url) !== "" && /^\/?\d*$/.test(new URL(url).pathname);
  } catch {
    return false;
  }
}

const isOrigin = (said: string) => URL.canParse(said) && new URL(said).origin === said;

const variables = z.object({
  PORT: whole("PORT", 0, 65_535).default(3000),
  HOST: z.string().default("0.0.0.0"),
  DATA_DIR: z.string().default("./data"),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: "DATABASE_URL tiene que empezar por postgres://" })
    .optional(),
  REDIS_URL: z
    .url({ protocol: /^rediss?$/, hostname: /./, error: "REDIS_URL tiene que empezar por redis:// o rediss://" })
    .refine(
      isRedis,
      "REDIS_URL acaba en el número de la base, y sus «%» se escriben %25: redis://:clave@máquina:6379/0",
    )
    .optional(),
  API_BASE_URL: httpUrl("API_BASE_URL").optional(),
  SESSION_SECRET: z.string().min(32, "SESSION_SECRET tiene que tener 32 caracteres o más").optional(),
  SESSION_SECRET_NEW: z.string().min(32, "SESSION_SECRET_NEW tiene que tener 32 caracteres o más").optional(),
  PUBLIC_URL: httpUrl("PUBLIC_URL").optional(),
  TRUST_PROXY: flag("TRUST_PROXY").default(false),
  SMTP_URL: z.url({ protocol: /^smtps?$/, error: "SMTP_URL tiene que empezar por smtp:// o smtps://" }).optional(),
  MAIL_TO: z.email("MAIL_TO tiene que ser una dirección de correo").optional(),
  MAIL_FROM: z.email("MAIL_FROM tiene que ser una dirección de correo").optional(),
  SIGNUP: z.enum(["open", "closed"], "SIGNUP tiene que ser open o closed").default("open"),
  CORS_ORIGINS: z
    .string()
    .default("")
    .transform((said) =>
      said
        .split(",")
        .map((one) => one.trim())
        .filter(Boolean),
    )
    .refine(
      (origins) => origins.every(isOrigin),
      "CORS_ORIGINS son direcciones sin ruta separadas por comas, como https://app.ejemplo.es",
    ),
  OPENAI_API_KEY: z.string().optional(),
  OPENAI_BASE_URL: httpUrl("OPENAI_BASE_URL").optional(),
  ANTHROPIC_API_KEY: z.string().optional(),
  ANTHROPIC_BASE_URL: httpUrl("ANTHROPIC_BASE_URL").optional(),
  GOOGLE_GENERATIVE_AI_API_KEY: z.string().optional(),
  OLLAMA_BASE_URL: httpUrl("OLLAMA_BASE_URL").default("http://127.0.0.1:11434"),
  MODEL_SILENCE_SECONDS: whole("MODEL_SILENCE_SECONDS", 1, 3600).default(120),
  LOG_LEVEL: z
    .enum(["debug", "info", "warn", "error", "silent"], {
      error: ({ input }) => `LOG_LEVEL no puede ser «${input}»: tiene que ser debug, info, warn, error o silent`,
    })
    .default("info"),
});
const environment = variables
  .refine(
    ({ SMTP_URL, MAIL_TO }) => !SMTP_URL || MAIL_TO,
    "SMTP_URL necesita también MAIL_TO, la dirección que recibe los formularios",
  )
  .refine(
    ({ API_BASE_URL, DATABASE_URL }) => !API_BASE_URL || !DATABASE_URL,
    "API_BASE_URL y DATABASE_URL no van juntas: con la API en otra máquina, esta no tiene base de datos",
  );

/** The names of all that can be set. */
export const settingNames: string[] = Object.keys(variables.shape);

export type Config = {
  port: number;
  host: string;
  dataDir: string;
  databaseUrl: string | undefined;
  /** Where several processes count attempts together. */
  redisUrl: string | undefined;
  /** The API of another machine; without it, this process has its own. */
  apiBaseUrl: string | undefined;
  /** The master secret: cookies, tokens and stored keys are protected by keys derived from it. */
  secret: string;
  /** True when the secret comes from SESSION_SECRET, false when it is the one in DATA_DIR. */
  secretGiven: boolean;
  /** The new secret for `npm run secretos:rotar`. Without it, a new one is generated if the current one is in DATA_DIR. */
  newSecret: string | undefined;
  publicUrl: string | undefined;
  trustProxy: boolean;
  signup: "open" | "closed";
  /** Origins whose pages may call the API with a key. */
  corsOrigins: string[];
  mail: { smtpUrl: string | undefined; mailTo: string | undefined; mailFrom: string | undefined };
  openai: { apiKey: string | undefined; baseUrl: string | undefined };
  anthropic: { apiKey: string | undefined; baseUrl: string | undefined };
  google: { apiKey: string | undefined };
  ollamaBaseUrl: string;
  /** How long a model may stay silent before its reply counts as failed, in ms. */
  modelSilence: number;
  logLevel: string;
};

/** A wrong setting: its message is one sentence that names the variable. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

// Holds the new secret while a rotation is in progress.
export const newSecretFile = "secret.new";

/**
 * Reads the environment. Empty variables count as unset. Creates DATA_DIR and, without SESSION_SECRET, a secret in it.
 * Throws ConfigError.
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const config = readSettings(env);
  if (existsSync(join(config.dataDir, newSecretFile))) {
    throw new ConfigError("Un cambio de secreto quedó a medias: ejecuta otra vez npm run secretos:rotar.");
  }
  return config;
}

/** Like `readConfig`, but also allowed while a rotation of the secret is in progress. */
export function readSettings(env: NodeJS.ProcessEnv = process.env): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const parsed = environment.safeParse(given);
  if (!parsed.success) throw new ConfigError(`${parsed.error.issues[0]?.message}.`);
  const values = parsed.data;
  const dataDir = resolve(values.DATA_DIR);
  try {
    makeFolder(dataDir);
  } catch (cause) {
    throw new ConfigError(`DATA_DIR (${dataDir}) no se puede crear.`, { cause });
  }
  return {
    port: values.PORT,
    host: values.HOST,
    dataDir,
    databaseUrl: values.DATABASE_URL,
    redisUrl: values.REDIS_URL,
    apiBaseUrl: values.API_BASE_URL?.replace(/\/$/, ""),
    secret: values.SESSION_SECRET ?? storedSecret(dataDir),
    secretGiven: values.SESSION_SECRET !== undefined,
    newSecret: newSecretOf(values),
    publicUrl: values.PUBLIC_URL?.replace(/\/$/, ""),
    trustProxy: values.TRUST_PROXY,
    signup: values.SIGNUP,
    corsOrigins: values.CORS_ORIGINS,
    mail: { smtpUrl: values.SMTP_URL, mailTo: values.MAIL_TO, mailFrom: values.MAIL_FROM },
    openai: { apiKey: values.OPENAI_API_KEY, baseUrl: values.OPENAI_BASE_URL },
    anthropic: { apiKey: values.ANTHROPIC_API_KEY, baseUrl: values.ANTHROPIC_BASE_URL },
    google: { apiKey: values.GOOGLE_GENERATIVE_AI_API_KEY },
    ollamaBaseUrl: values.OLLAMA_BASE_URL.replace(/\/$/, ""),
    modelSilence: values.MODEL_SILENCE_SECONDS * 1000,
    logLevel: values.LOG_LEVEL,
  };
}

function newSecretOf({ SESSION_SECRET, SESSION_SECRET_NEW }: z.output<typeof variables>): string | undefined {
  if (SESSION_SECRET_NEW && !SESSION_SECRET) {
    throw new ConfigError("SESSION_SECRET_NEW necesita en SESSION_SECRET el secreto de ahora.");
  }
  return SESSION_SECRET_NEW;
}

function storedSecret(dataDir: string): string {
  const path = join(dataDir, "secret");
  if (!existsSync(path)) makeSecret(dataDir, path);
  const secret = readFileSync(path, "utf8").trim();
  if (secret) return secret;
  throw new ConfigError(`${path} está vacío. Recupéralo de una copia; si aún no hay datos, bórralo.`);
}

/** The secret is synced to disk before anything is encrypted with it. If two processes start at once, only one creates it. */
function makeSecret(dataDir: string, path: string): void {
  const part = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    writeFileSync(part, randomBytes(32).toString("hex"), { flag: "wx", mode: 0o600, flush: true });
    linkSync(part, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The file system has no hard links.
    if (code === "EPERM" || code === "ENOTSUP" || code === "ENOSYS") renameSync(part, path);
    else if (code !== "EEXIST") throw error;
  } finally {
    rmSync(part, { force: true });
  }
  syncFolder(dataDir);
}
