// Prepares a fresh clone for npm start and npm test. Runs on any Node from 18 on, before anything is installed.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

const root = import.meta.dirname ?? new URL(".", import.meta.url).pathname;
const path = (...parts) => join(root, ...parts);
const run = (command, args, cwd = root) =>
  execFileSync(command, args, { cwd, stdio: ["ignore", "inherit", "inherit"] });
const steps = { install, build, browsers, tools };

// The one without a window's parts starts in half the time; not every distribution has it.
const chromium = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
// Commands that tests run; of each group one is wanted, the best first.
const forTests = [chromium, ["w3m"], ["lynx"], ["elinks"], ["tmux"], ["nginx"], ["slapd"]];
const forLongTests = [
  "firefox-esr",
  "WebKitWebDriver",
  "Xvfb",
  "strace",
  "buildah",
  "mmdebstrap",
  "caddy",
  "promtool",
  "pgbouncer",
  "minisign",
].map((command) => [command]);
/** Debian's packages that are not called as their command. */
const packageOf = {
  nginx: "nginx-light",
  WebKitWebDriver: "webkit2gtk-driver",
  Xvfb: "xvfb",
  promtool: "prometheus",
};

// An archive of a release has all that serving needs, and nothing to install or build it with.
const isReleased = existsSync(path("released.json"));
if (!isReleased) for (const step of process.argv.slice(2)) steps[step]();

/** npm ci, when what is installed is not what the lock file says. */
function install(folder = root) {
  const hash = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
  const stamp = join(folder, "node_modules", ".installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return;
  // Also where NODE_ENV=production: what builds is among the packages for development.
  const ci = ["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"];
  // Debian 12 has Node 18, for which npm leaves out the native part of the bundler, and npm 9, which can't read this lock file.
  const npmVersion = execFileSync("npm", ["--version"], { encoding: "utf8" });
  const isOld = Number.parseInt(process.version.slice(1), 10) < 20 || Number.parseInt(npmVersion, 10) < 10;
  const { dependencies } = JSON.parse(readFileSync(path("package.json"), "utf8"));
  const newer = ["--yes", `--package=node@${dependencies.node}`, "--package=npm@11.21.2", "npm"];
  if (isOld) run("npx", [...newer, ...ci], folder);
  else run("npm", ci, folder);
  writeFileSync(stamp, hash);
}

/** Packages that only the long tests use. */
function tools() {
  install(path("tests", "tools"));
  addDebian(forLongTests);
}

/** The build, when a source is newer than it. Assets are compressed once here, not at each request. */
function build() {
  const stamp = path("build", ".done");
  const built = existsSync(stamp) ? statSync(stamp).mtimeMs : 0;
  const sources = [
    "app",
    "bundle",
    "public",
    "start.ts",
    "serve.ts",
    "package-lock.json",
    "vite.config.ts",
    "react-router.config.ts",
  ];
  if (Math.max(...sources.map((source) => newest(path(source)))) < built) return;
  run("npx", ["--no-install", "react-router", "build"]);
  for (const file of files(path("build", "client"))) {
    if (!/\.(js|css|svg)$/.test(file)) continue;
    const content = readFileSync(file);
    writeFileSync(`${file}.br`, brotliCompressSync(content));
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  }
  mkdirSync(path("build"), { recursive: true });
  writeFileSync(stamp, "");
}

/** The browsers and servers of the tests: the system's, else Debian's packages; Playwright's own Chromium where there is no other. */
function browsers() {
  addDebian(forTests);
  if (chromium.some(has)) return;
  try {
    run("npx", ["--no-install", "playwright", "install", "chromium"]);
  } catch {
    console.error("No se ha podido instalar Chromium: las pruebas en navegador se dejarán fuera.");
  }
}

/**
 * Installs Debian's packages of the commands that are missing, all at once, where this is root. Tests of what is still missing are
 * left out. `programs`: groups of commands.
 */
function addDebian(programs) {
  const missing = programs.filter((commands) => !commands.some(has));
  if (missing.length === 0 || !mayInstall()) return;
  // Some packages ask questions when they are installed.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...args) => spawnSync("apt-get", ["-qq", ...args], { stdio: "ignore", env }).status === 0;
  const add = (commands) => apt("install", "-y", ...commands);
  const isListed = (name) => spawnSync("apt-cache", ["show", name], { stdio: "ignore" }).status === 0;
  const packages = () =>
    missing.map((commands) => commands.map((command) => packageOf[command] ?? command).find(isListed)).filter(Boolean);
  // Lists that are there are tried first: to fetch them takes longer than many packages.
  if (packages().length === missing.length && add(packages())) return;
  apt("update");
  // One that can't be had must not keep the others away.
  if (!add(packages())) for (const name of packages()) add([name]);
}

function mayInstall() {
  return has("apt-get") && process.getuid?.() === 0;
}

function has(command) {
  // Debian keeps servers where only root looks.
  return `${process.env.PATH ?? ""}:/usr/sbin`.split(":").some((folder) => existsSync(join(folder, command)));
}

function newest(entry) {
  return statSync(entry).isDirectory()
    ? Math.max(...files(entry).map((file) => statSync(file).mtimeMs))
    : statSync(entry).mtimeMs;
}

function files(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? files(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}
