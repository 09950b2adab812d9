import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { readSettings, settingNames } from "../../app/process/config.server.ts";

const read = (name: string) => readFileSync(join(import.meta.dirname, "..", "..", name), "utf8");
const example = read(".env.example");

it("are all in .env.example, those that are set there as they are without it", () => {
  const named = [...example.matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name);
  expect(named.toSorted()).toEqual(settingNames.toSorted());
  const dataDir = mkdtempSync(join(tmpdir(), "tertulia-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const { DATA_DIR, ...given } = parseEnv(example);
  expect(DATA_DIR).toBe("./data");
  expect(readSettings({ ...given, DATA_DIR: dataDir })).toEqual(readSettings({ DATA_DIR: dataDir }));
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
  it.runIf(isHere)(`are the same when .env.example, with all its lines, is read by ${name}`, () => {
    writeFileSync(file, all);
    const DATA_DIR = dirname(file);
    const secrets = {
      SESSION_SECRET: "x".repeat(32),
      SESSION_SECRET_NEW: "y".repeat(32),
      METRICS_TOKEN: "z".repeat(16),
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

it("are all explained to those who host it", () => {
  const explained = read("docs/operar.md");
  expect(settingNames.filter((name) => !explained.includes(`\`${name}\``))).toEqual([]);
});
