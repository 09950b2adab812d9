import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { startModelServer } from "../support/model-server.ts";
import { freePort } from "../support/server.ts";

// The image is built on bases that mmdebstrap makes of Debian's packages, in place of those of a registry of images.
const npm = ["/usr/lib", "/usr/local/lib"].map((lib) => `${lib}/node_modules/npm`).find((path) => existsSync(path));
const hasTools = ["buildah", "mmdebstrap"].every((name) => existsSync(`/usr/bin/${name}`));
const canBuild = hasTools && npm !== undefined && process.getuid?.() === 0;
const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "tertulia-image-"));
const env = { ...process.env, STORAGE_DRIVER: "vfs", BUILDAH_ISOLATION: "chroot" };

const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, {
    cwd: root,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    maxBuffer: 1e8,
  });
const buildah = (...args: string[]) =>
  run("buildah", "--root", join(folder, "images"), "--runroot", join(folder, "run"), ...args).trim();

function makeBase(name: string, ...options: string[]): string {
  const archive = join(folder, `${name}.tar`);
  run("mmdebstrap", ...options, "bookworm", archive);
  const container = buildah("from", "scratch");
  buildah("add", container, archive, "/");
  return container;
}

/** Node, npm and the certificates of this machine in a base: what an image of Node has. */
function makeBuildBase(): void {
  const container = makeBase("build", "--variant=minbase", "--include=libstdc++6,binutils");
  buildah("copy", container, process.execPath, "/usr/bin/node");
  buildah("copy", container, npm ?? "", "/usr/lib/node_modules/npm");
  for (const name of ["npm", "npx"]) {
    buildah("run", container, "--", "ln", "-s", `../lib/node_modules/npm/bin/${name}-cli.js`, `/usr/bin/${name}`);
  }
  const certificates = process.env.NODE_EXTRA_CA_CERTS ?? "/etc/ssl/certs/ca-certificates.crt";
  if (existsSync(certificates)) {
    buildah("copy", container, certificates, "/etc/ca.pem");
    buildah("config", "--env", "NODE_EXTRA_CA_CERTS=/etc/ca.pem", container);
  }
  buildah("commit", container, "localhost/build-base");
}

/** Builds the image from nothing, as a release does: with the time of a commit. Returns its digest. */
function build(tag: string): string {
  // How this machine reaches packages, and those that it has already.
  const own = [".npmrc", ".npm"]
    .filter((name) => existsSync(join(homedir(), name)))
    .flatMap((name) => ["--volume", `${join(homedir(), name)}:/root/${name}`]);
  const bases = ["--build-arg", "BUILD_BASE=localhost/build-base", "--build-arg", "BASE=localhost/base"];
  const how = ["--network", "host", "--ignorefile", ".containerignore", "--file", "Containerfile"];
  buildah("build", "--no-cache", "--timestamp", "1700000000", ...how, ...own, ...bases, "--tag", tag, ".");
  const [image] = JSON.parse(buildah("images", "--json", tag)) as { digest: string }[];
  return image?.digest ?? "";
}

describe.runIf(canBuild)("the image", () => {
  let mock: LLMock;
  beforeAll(async () => {
    mock = await startModelServer();
    makeBuildBase();
    buildah("commit", makeBase("base", "--variant=extract", "--include=libc6,libgcc-s1,libstdc++6"), "localhost/base");
    build("localhost/tertulia");
  }, 900_000);
  afterAll(async () => {
    await mock?.stop();
    spawnSync(
      "buildah",
      ["--root", join(folder, "images"), "--runroot", join(folder, "run"), "rmi", "--all", "--force"],
      { env },
    );
    rmSync(folder, { recursive: true, force: true });
  });

  it("is the same when it is built again", () => {
    const [first] = JSON.parse(buildah("images", "--json", "localhost/tertulia")) as { digest: string }[];
    expect(first?.digest).toMatch(/^sha256:/);
    expect(build("localhost/again")).toBe(first?.digest);
  }, 900_000);

  it("is at most 250 MB and runs without root rights", () => {
    const [image] = JSON.parse(buildah("images", "--json", "localhost/tertulia")) as { size: string }[];
    const [, megabytes = "", unit] = /([\d.]+) ?(\w+)/.exec(image?.size ?? "") ?? [];
    expect(unit).toBe("MB");
    expect(Number(megabytes)).toBeLessThanOrEqual(250);
    const { OCIv1 } = JSON.parse(buildah("inspect", "--type", "image", "localhost/tertulia")) as {
      OCIv1: { config: { User: string; StopSignal?: string; Volumes: object } };
    };
    expect(OCIv1.config).toMatchObject({ User: "65532", StopSignal: "SIGTERM", Volumes: { "/data": {} } });
  });

  it("runs as any user on a read-only root filesystem", async () => {
    const path = buildah("mount", buildah("from", "localhost/tertulia"));
    const data = join(folder, "data");
    mkdirSync(data, { mode: 0o700 });
    run("chown", "4242:4242", data);
    const port = await freePort();
    const settings = [
      `PORT=${port}`,
      `OPENAI_BASE_URL=${mock.url}/v1`,
      "OPENAI_API_KEY=clave",
      "OLLAMA_BASE_URL=http://127.0.0.1:9",
    ];
    const image = ["PATH=/tertulia/node_modules/node/bin", "NODE_ENV=production", "DATA_DIR=/data", "TMPDIR=/data/tmp"];
    // As every container engine does; Node finds itself there when it starts another process.
    mkdirSync(join(path, "proc"), { recursive: true });
    const mounts = `mount --bind ${path} ${path} && mount -o remount,ro,bind ${path} && mount --bind ${data} ${path}/data && mount --rbind /proc ${path}/proc`;
    const start = `exec env -i ${[...image, ...settings].join(" ")} /usr/sbin/chroot --userspec=4242:4242 ${path} node --max-semi-space-size=16 /tertulia/build/server/start.js`;
    const server = spawn("unshare", ["--mount", "sh", "-c", `${mounts} && ${start}`], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void server.kill("SIGKILL"));
    const ended = new Promise<number | null>((resolve) => server.once("exit", resolve));
    const browser = new Browser(`http://127.0.0.1:${port}`);
    await vi.waitFor(async () => expect((await browser.fetch("/ready")).status).toBe(200), {
      timeout: 60_000,
      interval: 200,
    });
    await browser.signUp();
    expect(readable(await browser.html(await browser.say("Hola")))).toContain("Con dos frases.");
    const picture = new File([Buffer.from(point, "base64")], "punto.png");
    // With the image's native parts, and its folder for temporary files.
    expect(await browser.upload([picture])).toHaveLength(1);
    // The programs that read documents are there, also the recogniser of writing, of which the image leaves out the most.
    const documents = ["gastos.xlsx", "nota.eml", "fax-ccitt.pdf", "contrato-foto.jpg"].map(
      (name) => new File([readFileSync(join(root, "tests/documents", name))], name),
    );
    expect(await browser.upload(documents)).toHaveLength(5);
    await vi.waitFor(
      async () => {
        const found = await browser.html("/conversation/chat?q=arrendador");
        for (const name of ["contrato-foto.jpg", "fax-ccitt.pdf"]) expect(found).toContain(name);
      },
      {
        timeout: 60_000,
        interval: 500,
      },
    );
    server.kill("SIGTERM");
    expect(await ended).toBe(0);
  });
});

const point = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
