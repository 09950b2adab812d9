// `npm run publicar` makes the files of a release of the last commit in `release/`: the archive that starts without a registry, its bill of
// materials, the image where buildah is there, checksums and, with MINISIGN_KEY, their signature. The version is package.json's, and
// CHANGELOG.md has a section of it with its date. Made twice of one commit, the files are the same.

import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { create } from "tar";
import { ConfigError } from "../app/process/config.server.ts";
import packageJson from "../package.json" with { type: "json" };
import { run } from "./run.ts";

const root = join(import.meta.dirname, "..");
const { version } = packageJson;
const name = `tertulia-${version}`;
// In the archive, beside what is built: what an installation serves, is operated with, and is read of it.
const parts = [
  ...["app", "build", "commands", "deploy", "dictionaries", "docs", "node_modules"],
  ...["package.json", "package-lock.json", "prepare.mjs", "server.ts", ".env.example"],
  ...["README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE"],
];
/** Tells `prepare.mjs` that all is there. */
const mark = "released.json";

const call = (program: string, args: string[], cwd: string) =>
  execFileSync(program, args, {
    cwd,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, NODE_ENV: "development" },
  });
const ask = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();

await run(async () => {
  const section = new RegExp(`^## ${version.replaceAll(".", "\\.")} \\(\\d{4}-\\d\\d-\\d\\d\\)$`, "m");
  if (!section.test(readFileSync(join(root, "CHANGELOG.md"), "utf8"))) {
    throw new ConfigError(
      `CHANGELOG.md no tiene una sección «## ${version} (aaaa-mm-dd)»: la versión es la de package.json.`,
    );
  }
  if (ask("status", "--porcelain"))
    throw new ConfigError("Hay cambios sin confirmar: se publica lo que está en un commit.");
  const commit = ask("rev-parse", "HEAD");
  const made = Number(ask("log", "-1", "--format=%ct"));
  const out = join(root, "release");
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out);
  const work = mkdtempSync(join(tmpdir(), "tertulia-release-"));
  try {
    const folder = join(work, name);
    mkdirSync(folder);
    execFileSync("tar", ["-x", "-C", folder], {
      input: execFileSync("git", ["archive", commit], { cwd: root, maxBuffer: 1 << 30 }),
    });
    call(process.execPath, ["prepare.mjs", "install", "build"], folder);
    call("npm", ["prune", "--omit=dev", "--no-audit", "--no-fund"], folder);
    call("sh", ["commands/slim.sh"], folder);
    writeFileSync(join(folder, mark), JSON.stringify({ version, commit }));
    await pack(work, join(out, `${name}-${process.platform}-${process.arch}.tar.gz`), new Date(made * 1000));
    const bill = execFileSync(process.execPath, ["commands/bill-of-materials.ts"], { cwd: root, maxBuffer: 1 << 28 });
    writeFileSync(join(out, `${name}.cdx.json`), settled(bill.toString(), made));
    buildImage(join(out, `${name}.oci.tar`), made);
    sign(out);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  for (const file of readdirSync(out)) {
    const megabytes = (statSync(join(out, file)).size / 1_000_000).toLocaleString("es", { maximumFractionDigits: 1 });
    console.log(`release/${file}  ${megabytes} MB`);
  }
});

/** An archive whose bytes depend on nothing but what is in it: names in order, one time, no owner. */
async function pack(work: string, file: string, mtime: Date): Promise<void> {
  const entries = [...parts, mark].flatMap((part) => filesIn(join(work, name), part)).sort();
  const archive = create(
    { cwd: work, mtime, portable: true, noDirRecurse: true },
    entries.map((entry) => `${name}/${entry}`),
  );
  await pipeline(archive, createGzip({ level: 9 }), createWriteStream(file));
}

function filesIn(folder: string, part: string): string[] {
  const path = join(folder, part);
  if (!statSync(path).isDirectory()) return [part];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

/** The bill without what differs from one making to the next. */
function settled(bill: string, made: number): string {
  const { serialNumber: _, metadata, ...rest } = JSON.parse(bill) as { serialNumber: string; metadata: object };
  return `${JSON.stringify({ ...rest, metadata: { ...metadata, timestamp: new Date(made * 1000).toISOString() } }, null, 2)}\n`;
}

/** The image, as an OCI archive, where buildah and its bases can be had. */
function buildImage(file: string, made: number): void {
  if (spawnSync("buildah", ["--version"]).status !== 0) {
    console.log("Sin buildah no se hace la imagen.");
    return;
  }
  const tag = `tertulia:${version}`;
  const built = spawnSync(
    "buildah",
    [
      "build",
      "--timestamp",
      String(made),
      "--ignorefile",
      ".containerignore",
      "--file",
      "Containerfile",
      "--tag",
      tag,
      ".",
    ],
    { cwd: root, stdio: ["ignore", "ignore", "inherit"] },
  );
  if (built.status !== 0) {
    console.log("No se ha podido hacer la imagen: sus bases vienen de un registro.");
    return;
  }
  execFileSync("buildah", ["push", tag, `oci-archive:${file}:${tag}`], { stdio: ["ignore", "ignore", "inherit"] });
}

/** Checksums of all files, and their signature by minisign where MINISIGN_KEY names a key. */
function sign(out: string): void {
  const sum = (file: string) =>
    createHash("sha256")
      .update(readFileSync(join(out, file)))
      .digest("hex");
  const lines = readdirSync(out)
    .sort()
    .map((file) => `${sum(file)}  ${file}\n`);
  writeFileSync(join(out, "SHA256SUMS"), lines.join(""));
  const { MINISIGN_KEY } = process.env;
  if (!MINISIGN_KEY) {
    console.log("Sin MINISIGN_KEY no se firman las sumas.");
    return;
  }
  execFileSync("minisign", ["-S", "-s", MINISIGN_KEY, "-m", "SHA256SUMS", "-t", `${name}`], {
    cwd: out,
    stdio: ["inherit", "ignore", "inherit"],
  });
}
