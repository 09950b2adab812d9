import { execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { freePort } from "../support/server.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "tertulia-"));
const clone = join(folder, "clone");
const release = join(clone, "release");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const name = `tertulia-${version}`;
const archive = `${name}-${process.platform}-${process.arch}.tar.gz`;
const hasMinisign = existsSync("/usr/bin/minisign");
const key = join(folder, "key");

describe("a release", () => {
  beforeAll(() => {
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t.es", ...args], { cwd: clone });
    execFileSync("git", ["clone", "-q", root, clone]);
    symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
    writeFileSync(join(clone, ".git/info/exclude"), "node_modules\n");
    const changes = readFileSync(join(clone, "CHANGELOG.md"), "utf8");
    writeFileSync(join(clone, "CHANGELOG.md"), changes.replace(/^## Sin publicar$/m, `## ${version} (2026-12-01)`));
    // Between two releases there is a section that has no number yet.
    git("commit", "-qam", "Release", "--allow-empty");
    if (hasMinisign) execFileSync("minisign", ["-G", "-W", "-p", `${key}.pub`, "-s", key]);
    const signing = hasMinisign ? { MINISIGN_KEY: key } : {};
    execFileSync(process.execPath, ["commands/publish.ts"], {
      cwd: clone,
      env: { ...process.env, ...signing },
      stdio: "ignore",
    });
  }, 600_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("has a small archive, bill of materials and signed checksums", () => {
    expect(statSync(join(release, archive)).size).toBeLessThanOrEqual(90_000_000);
    const bill = JSON.parse(readFileSync(join(release, `${name}.cdx.json`), "utf8")) as { bomFormat: string };
    expect(bill.bomFormat).toBe("CycloneDX");
    expect(execFileSync("sha256sum", ["-c", "SHA256SUMS"], { cwd: release, encoding: "utf8" })).toContain(
      `${archive}: OK`,
    );
    if (hasMinisign) execFileSync("minisign", ["-V", "-p", `${key}.pub`, "-m", "SHA256SUMS"], { cwd: release });
  });

  it("starts from its archive by npm start without a registry", async () => {
    const into = join(folder, "srv");
    mkdirSync(into);
    execFileSync("tar", ["-xzf", join(release, archive), "-C", into]);
    const port = await freePort();
    const npm = spawn("npm", ["start"], {
      cwd: join(into, name),
      env: {
        PATH: process.env.PATH,
        // No registry answers there.
        npm_config_registry: "http://127.0.0.1:9",
        PORT: String(port),
        HOST: "127.0.0.1",
        DATA_DIR: join(folder, "data"),
        OLLAMA_BASE_URL: "http://127.0.0.1:9",
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void npm.kill("SIGTERM"));
    await new Promise<void>((resolve, reject) => {
      npm.stdout.on("data", (printed) => String(printed).includes("Tertulia escucha") && resolve());
      npm.once("exit", (code) => reject(new Error(`npm start ended with ${code}`)));
    });
    const browser = new Browser(`http://127.0.0.1:${port}`);
    await browser.signUp();
    expect(readable(await browser.html(await browser.say("Hola")))).toContain("asistente local");
    const [file = ""] = await browser.upload([
      new File([readFileSync(join(root, "tests/documents/gastos.xlsx"))], "gastos.xlsx"),
    ]);
    expect(file).toBeTruthy();
  });
});
