import { randomBytes } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { z } from "zod";
import { readEventsUrl } from "./events-url.server.ts";
import { faultOf } from "./fault.ts";
import { makeFolder, syncFolder } from "./fsync.server.ts";
import { readAddresses, type TrustedProxy } from "./network/trusted-proxy.server.ts";
import { type BucketSettings, readStorageUrl } from "./storage-url.server.ts";
import { readToolServers } from "./tool-servers.server.ts";
import { whyUnusable } from "./unusable.server.ts";

const httpUrl = (name: string) =>
  z.url({ protocol: /^https?$/, error: `${name} tiene que ser una dirección http o https` });
/** An address with a user and a password: their signs are written with «%», or the address means something else. */
const urlWithPassword = (name: string, protocol: RegExp, example: string) =>
  z
    .string()
    .refine((said) => protocol.test(said), `${name} tiene que ser como ${example}`)
    .refine(
      isWhole,
      `${name} no se entiende. Los signos de la clave se escriben así: / %2F, : %3A, @ %40, # %23, ? %3F, % %25`,
    )
    // PostgreSQL may be named by its socket, in a parameter.
    .refine((said) => URL.parse(said)?.hostname || /[?&]host=/.test(said), `${name} no dice la máquina: ${example}`);

function isWhole(said: string): boolean {
  try {
    const { pathname, search, hash } = new URL(said);
    return decodeURIComponent(said) !== "" && !/@/.test(pathname + search + hash);
  } catch {
    return false;
  }
}

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

/** Whether traffic to an address is encrypted, or does not leave this machine. */
export function isSecureOrHere(address: string): boolean {
  const { protocol, hostname } = URL.parse(address) ?? {};
  return /^(https|ldaps):$/.test(protocol ?? "") || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname ?? "");
}

/** Whether an address has no path, query, fragment or user. */
function isBare(said: string): boolean {
  const { pathname, search, hash, username } = URL.parse(said) ?? {};
  return pathname === "/" && `${search}${hash}${username}` === "";
}

// Programs of the desktop and extensions have schemes of their own, such as app:// and chrome-extension://, for which URL has no origin.
const isOrigin = (said: string) =>
  /^https?:/i.test(said)
    ? URL.canParse(said) && new URL(said).origin === said
    : /^[a-z][a-z\d+.-]{1,40}:\/\/[\w.-]{1,253}$/.test(said);

const variables = z.object({
  PORT: whole("PORT", 0, 65_535).default(3000),
  // Without it, all addresses of the machine, IPv6 where it has any. One of IPv6 may come as in a URL, in brackets.
  HOST: z
    .string()
    .transform((host) => host.replace(/^\[(.+)\]$/, "$1"))
    .optional(),
  // How many processes serve behind the port.
  PROCESSES: whole("PROCESSES", 1, 64).default(1),
  DATA_DIR: z.string().default("./data"),
  DATABASE_URL: urlWithPassword(
    "DATABASE_URL",
    /^postgres(ql)?:\/\//,
    "postgres://usuario:clave@máquina:5432/base",
  ).optional(),
  // Several processes count attempts together in Redis.
  REDIS_URL: urlWithPassword("REDIS_URL", /^rediss?:\/\//, "redis://:clave@máquina:6379/0")
    .refine((said) => /^\/?\d*$/.test(URL.parse(said)?.pathname ?? ""), "REDIS_URL acaba en el número de la base: /0")
    .optional(),
  // Bucket for the bytes of files; without it, they are in DATA_DIR.
  STORAGE_URL: z
    .string()
    .transform((text, context) => {
      const read = readStorageUrl(text);
      if (typeof read !== "string") return read;
      context.addIssue(read);
      return z.NEVER;
    })
    .optional(),
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  // Of keys that expire.
  AWS_SESSION_TOKEN: z.string().optional(),
  // Folder or bucket for the copies of each night.
  BACKUP_URL: z
    .string()
    .transform((text, context) => {
      if (text.startsWith("/")) return { folder: resolve(text) };
      const read = text.startsWith("s3:")
        ? readStorageUrl(text, "BACKUP_URL")
        : "BACKUP_URL es una carpeta, escrita desde la raíz (/copias), o un almacén (s3://…)";
      if (typeof read !== "string") return { bucket: read };
      context.addIssue(read);
      return z.NEVER;
    })
    .optional(),
  BACKUP_PASSPHRASE: z.string().min(16, "BACKUP_PASSPHRASE tiene que tener 16 caracteres o más").optional(),
  // The API of another machine; without it, this process has its own.
  API_BASE_URL: httpUrl("API_BASE_URL").optional(),
  // The master secret: cookies, tokens and stored keys are protected by keys derived from it.
  SESSION_SECRET: z.string().min(32, "SESSION_SECRET tiene que tener 32 caracteres o más").optional(),
  // For `npm run secretos:rotar`. Without it, a new one is generated if the current one is in DATA_DIR.
  SESSION_SECRET_NEW: z.string().min(32, "SESSION_SECRET_NEW tiene que tener 32 caracteres o más").optional(),
  PUBLIC_URL: httpUrl("PUBLIC_URL")
    .refine(
      isBare,
      "PUBLIC_URL es un nombre propio, como https://tertulia.ejemplo.es: sin ruta ni nada detrás. En una carpeta de otro sitio Tertulia no funciona",
    )
    .optional(),
  TRUST_PROXY: flag("TRUST_PROXY").default(false),
  SMTP_URL: urlWithPassword("SMTP_URL", /^smtps?:\/\//, "smtp://usuario:clave@máquina:587").optional(),
  // Controller of the data of people (GDPR), as the record of processing names them.
  CONTROLLER_NAME: z.string().optional(),
  CONTROLLER_CONTACT: z.string().optional(),
  DPO_CONTACT: z.string().optional(),
  // Line that tells people that an AI answers and may be wrong.
  AI_NOTICE: z
    .string()
    .trim()
    .min(1, "AI_NOTICE tiene que decir algo: la ley pide avisar de que contesta una inteligencia artificial")
    .max(200, "AI_NOTICE es demasiado largo: tiene que caber en una línea")
    .default("Contesta una inteligencia artificial, que puede equivocarse: comprueba lo importante."),
  // When administrators may read other people's content: whenever they like, once they have given a reason, or never.
  ADMIN_READS: z.enum(["open", "reason", "never"], "ADMIN_READS tiene que ser open, reason o never").default("reason"),
  MAIL_TO: z.email("MAIL_TO tiene que ser una dirección de correo").optional(),
  MAIL_FROM: z.email("MAIL_FROM tiene que ser una dirección de correo").optional(),
  // Questions by e-mail: the folder that they are fetched from, or the token of a mail server that hands them over; the address that people
  // write to; and the name of the server whose checks of a sender are believed (RFC 8601).
  MAIL_IN: urlWithPassword("MAIL_IN", /^imaps?:\/\//, "imaps://usuario:clave@máquina:993/INBOX").optional(),
  MAIL_IN_TOKEN: z.string().min(32, "MAIL_IN_TOKEN tiene que tener 32 caracteres o más").optional(),
  MAIL_IN_ADDRESS: z.email("MAIL_IN_ADDRESS tiene que ser una dirección de correo").optional(),
  MAIL_IN_TRUSTS: z
    .string()
    .regex(
      /^[\w.-]+$/,
      "MAIL_IN_TRUSTS es el nombre con que el servidor de correo firma Authentication-Results, como mx.ejemplo.es",
    )
    .optional(),
  SIGNUP: z.enum(["open", "closed"], "SIGNUP tiene que ser open o closed").default("open"),
  // Whether people may also sign in with an e-mail address and a password.
  PASSWORD_SIGNIN: z.enum(["on", "off"], "PASSWORD_SIGNIN tiene que ser on u off").default("on"),
  OIDC_ISSUER: z
    .url({ protocol: /^https?$/, error: "OIDC_ISSUER tiene que ser una dirección https" })
    .refine(isSecureOrHere, "OIDC_ISSUER tiene que ser https, salvo en esta misma máquina")
    .optional(),
  OIDC_CLIENT_ID: z.string().optional(),
  OIDC_CLIENT_SECRET: z.string().optional(),
  OIDC_NAME: z.string().max(60, "OIDC_NAME es demasiado largo").default("tu organización"),
  OIDC_SCOPES: z.string().default("openid email profile"),
  OIDC_GROUPS_CLAIM: z.string().default("groups"),
  OIDC_ADMIN_GROUP: z.string().optional(),
  OIDC_SIGNUP: z.enum(["open", "closed"], "OIDC_SIGNUP tiene que ser open o closed").default("open"),
  // Header in which a proxy in front says who a person is, by their e-mail, and the addresses that the proxy has.
  AUTH_HEADER: z
    .string()
    .regex(/^[\w-]{1,80}$/, "AUTH_HEADER es el nombre de una cabecera, como Remote-Email")
    .optional(),
  AUTH_PROXY: z
    .string()
    .transform((text, context) => {
      const addresses = readAddresses(text);
      if (addresses) return addresses;
      context.addIssue("AUTH_PROXY son direcciones IP o redes, con comas, como 10.0.0.2 o 172.18.0.0/16");
      return z.NEVER;
    })
    .optional(),
  // Token of an identity provider that keeps accounts and groups here (SCIM 2.0); without it, SCIM is off.
  SCIM_TOKEN: z.string().min(32, "SCIM_TOKEN tiene que tener 32 caracteres o más").optional(),
  // Origins whose pages may call the API with a key.
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
  // How long a model may stay silent before its reply counts as failed.
  MODEL_SILENCE_SECONDS: whole("MODEL_SILENCE_SECONDS", 1, 3600).default(120),
  MCP_SERVERS: z
    .string()
    .default("{}")
    .transform((text, context) => {
      const servers = readToolServers(text);
      if (typeof servers !== "string") return servers;
      context.addIssue(servers);
      return z.NEVER;
    }),
  SEARXNG_URL: httpUrl("SEARXNG_URL").optional(),
  BRAVE_API_KEY: z.string().optional(),
  TAVILY_API_KEY: z.string().optional(),
  // Token that readers of /metrics send; without it, /metrics answers 404.
  METRICS_TOKEN: z.string().min(16, "METRICS_TOKEN tiene que tener 16 caracteres o más").optional(),
  // Collector of security events: syslog, or an address that takes JSON, which is signed with the secret.
  EVENTS_URL: z
    .string()
    .transform((text, context) => {
      const read = readEventsUrl(text);
      if (typeof read !== "string") return read;
      context.addIssue(read);
      return z.NEVER;
    })
    .optional(),
  EVENTS_SECRET: z.string().min(16, "EVENTS_SECRET tiene que tener 16 caracteres o más").optional(),
  ACCESS_LOG: z.enum(["on", "off"], "ACCESS_LOG tiene que ser on u off").default("off"),
  LOG_LEVEL: z
    .enum(["debug", "info", "warn", "error", "silent"], {
      error: ({ input }) => `LOG_LEVEL no puede ser «${input}»: tiene que ser debug, info, warn, error o silent`,
    })
    .default("info"),
});
const environment = variables
  .refine(
    ({ AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY }) => !AWS_ACCESS_KEY_ID === !AWS_SECRET_ACCESS_KEY,
    "AWS_ACCESS_KEY_ID y AWS_SECRET_ACCESS_KEY van juntas",
  )
  .refine(
    ({ AWS_SESSION_TOKEN, AWS_ACCESS_KEY_ID }) => !AWS_SESSION_TOKEN || AWS_ACCESS_KEY_ID,
    "AWS_SESSION_TOKEN necesita también AWS_ACCESS_KEY_ID y AWS_SECRET_ACCESS_KEY",
  )
  .refine(
    ({ BACKUP_URL, BACKUP_PASSPHRASE }) => !BACKUP_PASSPHRASE || BACKUP_URL,
    "BACKUP_PASSPHRASE necesita BACKUP_URL, adonde van las copias",
  )
  .refine(
    ({ EVENTS_URL, EVENTS_SECRET }) => !EVENTS_SECRET || EVENTS_URL?.kind === "webhook",
    "EVENTS_SECRET firma lo que va a una dirección https:// de EVENTS_URL",
  )
  .refine(
    ({ SMTP_URL, MAIL_TO }) => !SMTP_URL || MAIL_TO,
    "SMTP_URL necesita también MAIL_TO, la dirección que recibe los formularios",
  )
  .refine(
    ({ MAIL_IN, MAIL_IN_TOKEN, MAIL_IN_ADDRESS, MAIL_IN_TRUSTS, SMTP_URL, PUBLIC_URL }) =>
      (!MAIL_IN && !MAIL_IN_TOKEN) || (MAIL_IN_ADDRESS && MAIL_IN_TRUSTS && SMTP_URL && PUBLIC_URL),
    "MAIL_IN y MAIL_IN_TOKEN necesitan también MAIL_IN_ADDRESS, MAIL_IN_TRUSTS, SMTP_URL y PUBLIC_URL",
  )
  .refine(
    ({ OIDC_ISSUER, OIDC_CLIENT_ID }) => !OIDC_ISSUER || OIDC_CLIENT_ID,
    "OIDC_ISSUER necesita también OIDC_CLIENT_ID",
  )
  .refine(
    ({ AUTH_HEADER, AUTH_PROXY }) => !AUTH_HEADER === !AUTH_PROXY,
    "AUTH_HEADER y AUTH_PROXY van juntas: la cabecera, y la dirección del proxy que la pone",
  )
  .refine(
    ({ AUTH_HEADER, API_BASE_URL }) => !AUTH_HEADER || !API_BASE_URL,
    "AUTH_HEADER y API_BASE_URL no van juntas: la entrada es de la máquina que tiene la API",
  )
  .refine(
    ({ PROCESSES, DATABASE_URL, API_BASE_URL }) => PROCESSES === 1 || DATABASE_URL || API_BASE_URL,
    "PROCESSES necesita PostgreSQL (DATABASE_URL): la base embebida es de un solo proceso",
  )
  .refine(
    ({ API_BASE_URL, DATABASE_URL }) => !API_BASE_URL || !DATABASE_URL,
    "API_BASE_URL y DATABASE_URL no van juntas: con la API en otra máquina, esta no tiene base de datos",
  );

/** The names of all settings. */
export const settingNames: string[] = Object.keys(variables.shape);

/** The settings of this process, as `readSettings` makes them. */
export type Config = ReturnType<typeof readSettings>;

/** A provider of identities (OpenID Connect), as the environment names it. */
export type OidcSettings = {
  issuer: string;
  clientId: string;
  clientSecret: string | undefined;
  name: string;
  scopes: string;
  groupsClaim: string;
  adminGroup: string | undefined;
  makesAccounts: boolean;
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

/**
 * Like `readConfig`, for a command on an existing installation: the command must not make an empty one. Throws ConfigError where no
 * installation is found.
 */
export function readInstalled(env: NodeJS.ProcessEnv = process.env): Config {
  const dataDir = resolve(env.DATA_DIR || "data");
  if (!env.DATABASE_URL && !existsSync(join(dataDir, "tertulia.db"))) {
    throw new ConfigError(
      `En ${dataDir} no hay datos de Tertulia. Ejecuta esta orden con las variables del servicio (DATA_DIR, o DATABASE_URL) y con su usuario.`,
    );
  }
  return readConfig(env);
}

/** Like `readSettings`, before a copy is restored: in an empty DATA_DIR no secret is made, as one may come with the copy. */
export function readToRestore(env: NodeJS.ProcessEnv = process.env): Config {
  const secretGiven = Boolean(env.SESSION_SECRET);
  return { ...readSettings(secretGiven ? env : { ...env, SESSION_SECRET: "-".repeat(32) }), secretGiven };
}

/** Like `readConfig`, but also allowed while a rotation of the secret is in progress. */
export function readSettings(env: NodeJS.ProcessEnv = process.env) {
  const given = Object.fromEntries(
    Object.entries(env)
      .map(([name, value = ""]) => [name, asIs.has(name) ? value : unquoted(withoutEnd(name, value))] as const)
      .filter(([, value]) => value !== ""),
  );
  const parsed = environment.safeParse(given);
  if (!parsed.success) throw new ConfigError(`${parsed.error.issues[0]?.message}.`);
  const values = parsed.data;
  const dataDir = resolve(values.DATA_DIR);
  checkFolders(dataDir);
  return {
    port: values.PORT,
    host: values.HOST,
    processes: values.PROCESSES,
    dataDir,
    databaseUrl: values.DATABASE_URL,
    redisUrl: values.REDIS_URL,
    bucket: bucketIn(values.STORAGE_URL, values),
    backup: backupIn(values),
    backupPassphrase: values.BACKUP_PASSPHRASE,
    apiBaseUrl: values.API_BASE_URL?.replace(/\/$/, ""),
    secret: values.SESSION_SECRET ?? storedSecret(dataDir),
    /** Whether the secret comes from SESSION_SECRET, not from DATA_DIR. */
    secretGiven: values.SESSION_SECRET !== undefined,
    newSecret: newSecretOf(values),
    publicUrl: values.PUBLIC_URL?.replace(/\/$/, ""),
    trustProxy: values.TRUST_PROXY,
    signup: values.SIGNUP,
    passwordSignin: values.PASSWORD_SIGNIN === "on",
    oidc: oidcIn(values),
    authProxy: proxyIn(values),
    scimToken: values.SCIM_TOKEN,
    corsOrigins: values.CORS_ORIGINS,
    controller: {
      name: values.CONTROLLER_NAME,
      contact: values.CONTROLLER_CONTACT,
      dataProtectionOfficer: values.DPO_CONTACT,
    },
    aiNotice: values.AI_NOTICE,
    adminReads: values.ADMIN_READS,
    mailIn: mailIn(values),
    mail: { smtpUrl: values.SMTP_URL, mailTo: values.MAIL_TO, mailFrom: values.MAIL_FROM },
    openai: { apiKey: values.OPENAI_API_KEY, baseUrl: values.OPENAI_BASE_URL },
    anthropic: { apiKey: values.ANTHROPIC_API_KEY, baseUrl: values.ANTHROPIC_BASE_URL },
    google: { apiKey: values.GOOGLE_GENERATIVE_AI_API_KEY },
    ollamaBaseUrl: values.OLLAMA_BASE_URL.replace(/\/$/, ""),
    /** In ms. */
    modelSilence: values.MODEL_SILENCE_SECONDS * 1000,
    logLevel: values.LOG_LEVEL,
    metricsToken: values.METRICS_TOKEN,
    events: values.EVENTS_URL && { ...values.EVENTS_URL, secret: values.EVENTS_SECRET },
    accessLog: values.ACCESS_LOG === "on",
    toolServers: values.MCP_SERVERS,
    searxngUrl: values.SEARXNG_URL,
    braveKey: values.BRAVE_API_KEY,
    tavilyKey: values.TAVILY_API_KEY,
  };
}

/** Makes DATA_DIR and TMPDIR where they are not there. Throws ConfigError where this process can't write in one. */
function checkFolders(dataDir: string): void {
  const found = usable(`DATA_DIR (${dataDir})`, () => {
    makeFolder(dataDir);
    accessSync(dataDir, constants.W_OK);
    return readdirSync(dataDir);
  });
  // Folders of earlier starts, perhaps by another user. Other folders, such as `lost+found` of a disk, are not ours.
  for (const name of found.filter((one) => one === "files" || one === "backups")) {
    const path = join(dataDir, name);
    usable(path, () => accessSync(path, constants.W_OK));
  }
  // A container names a TMPDIR on its volume, which is empty at first.
  usable(`TMPDIR (${tmpdir()})`, () => mkdirSync(tmpdir(), { recursive: true }));
}

/** Does work with a file or folder. Throws ConfigError that begins with its name where this process can't use it. */
function usable<Result>(name: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const why = whyUnusable(error);
    if (!why) throw error;
    throw new ConfigError(`${name} ${why}.`, { cause: error });
  }
}

/** Settings whose quotes and blanks belong to the value: data encrypted with them can't be read without them. */
const asIs = new Set(["SESSION_SECRET", "SESSION_SECRET_NEW"]);

/**
 * A value without the blanks around it: secrets of Kubernetes often end in a line end, and so do files from Windows. Those of the passphrase
 * belong to it, because copies are encrypted with them.
 */
const withoutEnd = (name: string, value: string) => (name === "BACKUP_PASSPHRASE" ? value : value.trim() || value);

/** A value without quotes around it: `--env-file` of container engines leaves them, where shells and systemd take them away. */
function unquoted(value: string): string {
  const [first = ""] = value;
  const isQuoted = value.length > 1 && (first === "'" || first === '"') && value.endsWith(first);
  return isQuoted ? value.slice(1, -1) : value;
}

type Values = z.output<typeof variables>;

function bucketIn(url: Values["STORAGE_URL"], values: Values): BucketSettings | undefined {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: token } = values;
  if (!url || !accessKeyId || !secretAccessKey) return url && { ...url, keys: undefined };
  return { ...url, keys: { accessKeyId, secretAccessKey, ...(token && { sessionToken: token }) } };
}

/** Location of copies, outside of the data: a folder of this machine or of the network, or a bucket. */
export type BackupSettings = { folder: string } | { bucket: BucketSettings };

function backupIn(values: Values): BackupSettings | undefined {
  const { BACKUP_URL } = values;
  if (!BACKUP_URL) return undefined;
  if (BACKUP_URL.folder !== undefined) {
    if (!relative(resolve(values.DATA_DIR), BACKUP_URL.folder).startsWith("..")) {
      throw new ConfigError(
        "BACKUP_URL está dentro de DATA_DIR, y una copia ahí se pierde con los datos: pon otra carpeta, mejor en otro disco.",
      );
    }
    return { folder: BACKUP_URL.folder };
  }
  const bucket = bucketIn(BACKUP_URL.bucket, values);
  return bucket && { bucket };
}

function proxyIn({ AUTH_HEADER, AUTH_PROXY }: Values): TrustedProxy | undefined {
  if (!AUTH_HEADER || !AUTH_PROXY) return undefined;
  return { header: AUTH_HEADER.toLowerCase(), addresses: AUTH_PROXY };
}

/** Settings of received e-mail; undefined if no e-mail is received. */
function mailIn({ MAIL_IN, MAIL_IN_TOKEN, MAIL_IN_ADDRESS, MAIL_IN_TRUSTS }: Values) {
  if ((!MAIL_IN && !MAIL_IN_TOKEN) || !MAIL_IN_ADDRESS || !MAIL_IN_TRUSTS) return undefined;
  return { imap: MAIL_IN, token: MAIL_IN_TOKEN, address: MAIL_IN_ADDRESS, trusts: MAIL_IN_TRUSTS };
}

function oidcIn(values: Values): OidcSettings | undefined {
  if (!values.OIDC_ISSUER) return undefined;
  return {
    issuer: values.OIDC_ISSUER,
    clientId: values.OIDC_CLIENT_ID ?? "",
    clientSecret: values.OIDC_CLIENT_SECRET,
    name: values.OIDC_NAME,
    scopes: values.OIDC_SCOPES,
    groupsClaim: values.OIDC_GROUPS_CLAIM,
    adminGroup: values.OIDC_ADMIN_GROUP,
    makesAccounts: values.OIDC_SIGNUP === "open",
  };
}

function newSecretOf({ SESSION_SECRET, SESSION_SECRET_NEW }: Values): string | undefined {
  if (SESSION_SECRET_NEW && !SESSION_SECRET) {
    throw new ConfigError("SESSION_SECRET_NEW necesita en SESSION_SECRET el secreto de ahora.");
  }
  return SESSION_SECRET_NEW;
}

function storedSecret(dataDir: string): string {
  const path = join(dataDir, "secret");
  const secret = usable(path, () => {
    if (!existsSync(path)) makeSecret(dataDir, path);
    return readFileSync(path, "utf8").trim();
  });
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
    const { code } = faultOf(error);
    // The file system has no hard links.
    if (code === "EPERM" || code === "ENOTSUP" || code === "ENOSYS") renameSync(part, path);
    else if (code !== "EEXIST") throw error;
  } finally {
    rmSync(part, { force: true });
  }
  syncFolder(dataDir);
}
