// What npm start and npm test need on a fresh clone. Runs on any Node from 18 on, before anything is installed.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

const root = import.meta.dirname ?? new URL(".", import.meta.url).pathname;
const path = (...parts) => join(root, ...parts);
const run = (command, args, cwd = root) =>
  execFileSync(command, args, { cwd, stdio: ["ignore", "inherit", "inherit"] });
const steps = { install, build, browsers, tools };

for (const step of process.argv.slice(2)) steps[step]();

/** npm ci, when the lock file is newer than what is installed. */
function install(folder = root) {
  const installed = join(folder, "node_modules", ".package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(folder, "package-lock.json")).mtimeMs)
    return;
  // Also where NODE_ENV=production: what builds is among the packages for development.
  run("npm", ["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"], folder);
}

/** What only the long tests use. */
function tools() {
  install(path("tests", "tools"));
  addDebian({ "firefox-esr": "firefox-esr", WebKitWebDriver: "webkit2gtk-driver", Xvfb: "xvfb", strace: "strace" });
  // What stands around several processes, and what makes the image.
  addDebian({ buildah: "buildah", caddy: "caddy", mmdebstrap: "mmdebstrap", promtool: "prometheus" });
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

/** The browsers of the tests: the system's, else Debian's packages where this may install them, else Playwright's. */
function browsers() {
  const wanted = {
    chromium: ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"],
    w3m: ["w3m"],
    lynx: ["lynx"],
    tmux: ["tmux"],
  };
  addDebian({ nginx: "nginx-light", elinks: "elinks", slapd: "slapd" });
  const missing = Object.keys(wanted).filter((name) => !wanted[name].some(has));
  if (missing.length === 0) return;
  if (mayInstall()) {
    run("apt-get", ["update", "-qq"]);
    // The browser without a window's parts takes half the time; not every distribution has it.
    const packages = missing.map((name) => wanted[name].find(isPackage) ?? name);
    run("apt-get", ["install", "-y", "-qq", ...packages]);
    return;
  }
  if (missing.includes("chromium")) run("npx", ["--no-install", "playwright", "install", "chromium"]);
  const needed = missing.filter((name) => name !== "chromium");
  if (needed.length > 0) throw new Error(`Para las pruebas faltan estos programas: ${needed.join(", ")}.`);
}

/** Programs, by the command that each brings. Their tests are left out where they can't be had. */
function addDebian(programs) {
  const missing = Object.keys(programs).filter((command) => !has(command));
  if (missing.length === 0 || !mayInstall()) return;
  spawnSync("apt-get", ["update", "-qq"], { stdio: "ignore" });
  // Some packages ask questions when they are installed.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const command of missing)
    spawnSync("apt-get", ["install", "-y", "-qq", programs[command]], { stdio: "ignore", env });
}

function mayInstall() {
  return has("apt-get") && process.getuid?.() === 0;
}

function has(command) {
  // Debian keeps servers where only root looks.
  return `${process.env.PATH ?? ""}:/usr/sbin`.split(":").some((folder) => existsSync(join(folder, command)));
}

function isPackage(name) {
  return spawnSync("apt-cache", ["show", name], { stdio: "ignore" }).status === 0;
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
