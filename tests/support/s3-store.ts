import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BucketSettings } from "../../app/process/storage-url.server.ts";
import { freePort } from "./server.ts";

// S3rver is a server of the S3 protocol that somebody else wrote; it is installed by `node prepare.mjs tools`.
const program = `
  const S3rver = require("@20minutes/s3rver");
  const [port, directory] = process.argv.slice(1);
  const configureBuckets = [{ name: "archivos", configs: [] }];
  // It leaves the last slash of a bucket's address out of what it signs, so it refuses the SDK's signatures there.
  const allowMismatchedSignatures = true;
  new S3rver({ port: Number(port), address: "127.0.0.1", silent: true, directory, configureBuckets, allowMismatchedSignatures })
    .run().then(() => console.log("listening"));
`;

/** An S3 store on this machine with one empty bucket, `archivos`, that can be stopped and started again. */
export class S3Store {
  readonly directory = mkdtempSync(join(tmpdir(), "tertulia-s3-"));
  readonly keys = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };
  readonly port: number;
  #child: ChildProcess | undefined;

  private constructor(port: number) {
    this.port = port;
  }

  static async start(): Promise<S3Store> {
    const store = new S3Store(await freePort());
    await store.start();
    return store;
  }

  async start(): Promise<void> {
    if (this.#isRunning()) return;
    const child = spawn(process.execPath, ["-e", program, String(this.port), this.directory], {
      cwd: join(import.meta.dirname, "../tools"),
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#child = child;
    process.once("exit", () => child.kill("SIGKILL"));
    await once(child.stdout, "data");
  }

  async stop(): Promise<void> {
    if (!this.#isRunning() || !this.#child) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }

  #isRunning(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null;
  }

  async delete(): Promise<void> {
    await this.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  settings(prefix = ""): BucketSettings {
    const endpoint = `http://127.0.0.1:${this.port}`;
    return { bucket: "archivos", prefix, endpoint, region: "us-east-1", keys: this.keys };
  }

  /** The environment of a server that keeps its files here. */
  environment(prefix = ""): Record<string, string> {
    return {
      STORAGE_URL: `s3://archivos/${prefix}?endpoint=http://127.0.0.1:${this.port}`,
      AWS_ACCESS_KEY_ID: this.keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: this.keys.secretAccessKey,
    };
  }
}
