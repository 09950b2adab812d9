import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { ConfigError, readSettings, settingNames } from "../../app/process/config.server.ts";

const read = (name: string) => readFileSync(join(import.meta.dirname, "..", "..", name), "utf8");
const example = read(".env.example");

it("are all in .env.example, with their defaults where set", () => {
  const named = [...example.matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name);
  expect(named.toSorted()).toEqual(settingNames.toSorted());
  const dataDir = mkdtempSync(join(tmpdir(), "tertulia-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  // The unit of systemd and the image have a folder of their own, which the file must not take away.
  expect(example).toContain("#DATA_DIR=./data\n");
  expect(readSettings({ ...parseEnv(example), DATA_DIR: dataDir })).toEqual(readSettings({ DATA_DIR: dataDir }));
});

const all = example.replace(/^#(?=[A-Z_]+=)/gm, "");
const file = join(mkdtempSync(join(tmpdir(), "tertulia-")), ".env");
afterAll(() => rmSync(dirname(file), { recursive: true }));

/** Variables that a program prints, each ended by a NUL. */
const printed = (output: Buffer) =>
  Object.fromEntries(
    output
      .toString()
      .split("\0")
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
const sourced = (shell: string) => () =>
  printed(execFileSync(shell, ["-c", `set -a; . ${file}; env -0`], { env: { PATH: process.env.PATH } }));
// Ships with systemd, and reads by the same rules as EnvironmentFile=.
const generator = "/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator";
const bySystemd = () => {
  const folder = join(dirname(file), "environment.d");
  mkdirSync(folder, { recursive: true });
  copyFileSync(file, join(folder, "tertulia.conf"));
  const env = { XDG_CONFIG_HOME: dirname(file), HOME: dirname(file) };
  const lines = execFileSync(generator, { env, stdio: ["ignore", "pipe", "ignore"] })
    .toString()
    .trim()
    .split("\n");
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
};
/** `--env-file` of container engines: all after the first `=` is the value. */
const byContainers = () =>
  Object.fromEntries(
    all
      .split("\n")
      .filter((line) => /^[A-Z_]+=/.test(line))
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
const readers: [string, () => NodeJS.ProcessEnv, boolean][] = [
  ["sh", sourced("sh"), true],
  ["bash", sourced("bash"), existsSync("/bin/bash")],
  ["dash", sourced("dash"), existsSync("/bin/dash")],
  ["systemd", bySystemd, existsSync(generator)],
  ["container engines", byContainers, true],
];

for (const [name, read, isHere] of readers) {
  it.runIf(isHere)(`are read from the full .env.example the same by ${name}`, () => {
    writeFileSync(file, all);
    const DATA_DIR = dirname(file);
    const secrets = {
      SESSION_SECRET: "x".repeat(32),
      SESSION_SECRET_NEW: "y".repeat(32),
      METRICS_TOKEN: "z".repeat(16),
      EVENTS_SECRET: "",
      API_BASE_URL: "",
    };
    const given = { ...read(), ...secrets, DATA_DIR };
    expect(readSettings(given)).toEqual(readSettings({ ...parseEnv(all), ...secrets, DATA_DIR }));
    expect(readSettings(given)).toMatchObject({
      oidc: { name: "tu organización", scopes: "openid email profile" },
      controller: { name: "Asociación Ejemplo", contact: "Calle Mayor 1, Ejemplo; datos@ejemplo.es" },
      bucket: { bucket: "contenedor", prefix: "carpeta/", endpoint: "https://s3.ejemplo.es", region: "eu-south-2" },
      toolServers: {},
    });
  });
}

const url = ["hola", "ftp://x.es", "https://", "x.es/v1"];
/** Values that the process must not start with, by setting. */
const wrong: Record<string, string[]> = {
  PORT: ["abc", "-1", "99999", "3000.5"],
  PROCESSES: ["0", "muchos", "65", "4"],
  DATABASE_URL: ["mysql://u:c@h/b", "127.0.0.1", "postgres://u:a/b@h:5432/b", "postgres://u:50%@h/b", "postgres:///b"],
  REDIS_URL: ["hola", "http://h", "redis://:a/b@h:6379/0", "redis://h/base", "redis://"],
  STORAGE_URL: ["https://s3.es/cosa", "s3://X", "s3://cosa", "s3://a:b@cosa?region=x", "s3://cosa?region=x&acl=y"],
  AWS_ACCESS_KEY_ID: ["sola"],
  AWS_SECRET_ACCESS_KEY: ["sola"],
  AWS_SESSION_TOKEN: ["solo"],
  BACKUP_URL: ["copias", "./copias", "ftp://x", "s3://X", "s3://cosa"],
  BACKUP_PASSPHRASE: ["corta", "larga pero sin sitio de copias"],
  API_BASE_URL: url,
  SESSION_SECRET: ["corto"],
  SESSION_SECRET_NEW: ["corto", "x".repeat(32)],
  PUBLIC_URL: [...url, "https://ayto.es/tertulia", "https://ayto.es/?a=1", "https://ayto.es/#a", "https://u@ayto.es"],
  TRUST_PROXY: ["yes", "2"],
  SMTP_URL: ["correo.es", "http://correo.es", "smtp://u:a/b@h", "smtp://"],
  MAIL_TO: ["hola"],
  MAIL_FROM: ["hola"],
  MAIL_IN: ["correo.es", "https://u:c@correo.es", "imaps://u:a/b@h", "imaps://"],
  MAIL_IN_TOKEN: ["corto"],
  MAIL_IN_ADDRESS: ["hola"],
  MAIL_IN_TRUSTS: ["mx de casa", "a;b"],
  AI_NOTICE: ["   ", "x".repeat(201)],
  ADMIN_READS: ["yes"],
  SIGNUP: ["no"],
  PASSWORD_SIGNIN: ["no"],
  OIDC_ISSUER: [...url, "http://id.ejemplo.es", "https://id.ejemplo.es"],
  OIDC_NAME: ["x".repeat(61)],
  OIDC_SIGNUP: ["no"],
  SCIM_TOKEN: ["corto"],
  AUTH_HEADER: ["Remote Email", "Remote-Email"],
  AUTH_PROXY: [
    "proxy",
    "10",
    "127.1",
    "010.0.0.1",
    "0x7f.0.0.1",
    "10.0.0.1/8/8",
    "fe80::1/129",
    "10.0.0.0/64",
    "10.0.0.1",
  ],
  CORS_ORIGINS: ["https://a.es/b", "a.es", "https://a.es,b"],
  OPENAI_BASE_URL: url,
  ANTHROPIC_BASE_URL: url,
  OLLAMA_BASE_URL: url,
  MODEL_SILENCE_SECONDS: ["0", "-1", "3601", "mucho"],
  MCP_SERVERS: [
    "[]",
    "{",
    '{"a": 1}',
    '{"a": {}}',
    '{"a": {"url": "x"}}',
    '{"a": {"type": "sse", "url": "https://x.es/sse"}}',
    '{"a": {"command": "npx", "args": "-y cosa"}}',
    '{"a": {"command": "npx", "env": ["A=1"]}}',
    '{"a": {"url": "https://x.es/mcp", "headers": "A: 1"}}',
  ],
  SEARXNG_URL: url,
  METRICS_TOKEN: ["corto"],
  LOG_LEVEL: ["verbose"],
  ACCESS_LOG: ["yes"],
  EVENTS_URL: [
    "siem.es",
    "syslog://siem.es",
    "syslog+tcp://",
    "syslog+udp://h:99999",
    "ftp://siem.es",
    "https://u:c@h",
  ],
  EVENTS_SECRET: ["corto", "largo pero sin dirección"],
  DATA_DIR: ["/dev/null/datos", "/etc/hostname"],
};
/** Settings that take any text. */
const free = [
  ...["HOST", "CONTROLLER_NAME", "CONTROLLER_CONTACT", "DPO_CONTACT"],
  ...["OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "OIDC_SCOPES", "OIDC_GROUPS_CLAIM", "OIDC_ADMIN_GROUP"],
  ...["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "BRAVE_API_KEY", "TAVILY_API_KEY"],
];

it("every setting has listed wrong values or accepts any text", () => {
  expect([...Object.keys(wrong), ...free].toSorted()).toEqual(settingNames.toSorted());
});

it.each(Object.entries(wrong).flatMap(([name, values]) => values.map((value) => [name, value])))(
  "stop the start in one Spanish sentence: %s=%s",
  (name = "", value) => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), "tertulia-"));
    onTestFinished(() => rmSync(DATA_DIR, { recursive: true }));
    const asked = () => readSettings({ DATA_DIR, [name]: value });
    expect(asked).toThrow(ConfigError);
    // In Spanish, one line, with the setting's name; none of the parser's own English.
    expect(asked).toThrow(new RegExp(`^[^\\n]*${name}[^\\n]*\\.$`));
    expect(asked).not.toThrow(/Invalid|Expected|Error/);
  },
);

it("are read without the blanks and line ends of secrets and of Windows, but the secret itself", () => {
  const DATA_DIR = mkdtempSync(join(tmpdir(), "tertulia-"));
  onTestFinished(() => rmSync(DATA_DIR, { recursive: true }));
  const read = (value: string) =>
    readSettings({ DATA_DIR, LOG_LEVEL: "warn\r\n", METRICS_TOKEN: value, SESSION_SECRET: value });
  const [bare, ended] = [read("s".repeat(32)), read(`${"s".repeat(32)}\n`)];
  expect(ended).toMatchObject({ logLevel: "warn", metricsToken: bare.metricsToken });
  expect(ended).not.toEqual(bare);
  const copies = readSettings({ DATA_DIR, BACKUP_URL: "/copias", BACKUP_PASSPHRASE: "una frase larga de verdad\n" });
  expect(copies.backupPassphrase).toBe("una frase larga de verdad\n");
});

it("take an IPv6 address in brackets", () => {
  const DATA_DIR = mkdtempSync(join(tmpdir(), "tertulia-"));
  onTestFinished(() => rmSync(DATA_DIR, { recursive: true }));
  expect(readSettings({ DATA_DIR, HOST: "[::1]" }).host).toBe("::1");
});

it("are all explained to those who host it", () => {
  const explained = read("docs/operar.md");
  expect(settingNames.filter((name) => !explained.includes(`\`${name}\``))).toEqual([]);
});
