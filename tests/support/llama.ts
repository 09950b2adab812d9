import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tinyModel } from "./tiny-model.ts";

const folder = join(import.meta.dirname, "..", "tools", "llama");
const root = join(folder, "root");
const libraries = join(root, "usr", "lib", "x86_64-linux-gnu");
const model = join(folder, "diminuto.gguf");

/** Whether llama.cpp's server can be run. Unpacks it from Debian sid, with its libc, outside of the system's folders. */
export function hasLlama(): boolean {
  const program = join(root, "usr", "bin", "llama-server");
  if (existsSync(program)) return true;
  try {
    unpack();
  } catch {
    // No Debian, no network, or another architecture: what needs it is left out.
    return false;
  }
  return existsSync(program);
}

function unpack(): void {
  const apt = join(folder, "apt");
  for (const part of ["lists/partial", "cache/archives/partial", "state"])
    mkdirSync(join(apt, part), { recursive: true });
  const sources = join(apt, "sources.list");
  const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
  writeFileSync(sources, `deb [signed-by=${keyring}] http://deb.debian.org/debian sid main\n`);
  // With an empty dpkg status, apt takes nothing for installed and downloads all dependencies, libc included.
  const status = join(apt, "status");
  writeFileSync(status, "");
  const options = {
    "Dir::Etc::sourcelist": sources,
    "Dir::Etc::sourceparts": "-",
    "Dir::State": join(apt, "state"),
    "Dir::State::lists": join(apt, "lists"),
    "Dir::State::status": status,
    "Dir::Cache": join(apt, "cache"),
    "Acquire::Languages": "none",
    "APT::Install-Recommends": "false",
  };
  const flags = Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  const run = (command: string, args: string[]) => execFileSync(command, args, { stdio: "ignore" });
  run("apt-get", [...flags, "update"]);
  run("apt-get", [...flags, "install", "-y", "--download-only", "llama.cpp-tools"]);
  mkdirSync(root, { recursive: true });
  const archives = join(apt, "cache", "archives");
  for (const name of readdirSync(archives).filter((file) => file.endsWith(".deb"))) {
    run("dpkg-deb", ["-x", join(archives, name), root]);
  }
}

/** Starts llama.cpp's server on that port, with a model that says nonsense in a window of so many tokens; `options`: more of its own. */
export function startLlama(port: number, window: number, options: string[] = []): { stop(): Promise<void> } {
  writeFileSync(model, tinyModel());
  const child = spawn(
    join(root, "usr", "lib64", "ld-linux-x86-64.so.2"),
    [
      ...["--library-path", `${libraries}:${join(libraries, "llama")}`, join(root, "usr", "bin", "llama-server")],
      ...["-m", model, "-c", String(window), "--host", "127.0.0.1", "--port", String(port), "--no-context-shift"],
      ...options,
    ],
    {
      env: { ...process.env, GGML_BACKEND_PATH: join(libraries, "ggml", "backends0", "libggml-cpu-x64.so") },
      stdio: "ignore",
    },
  );
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    stop() {
      child.kill("SIGKILL");
      return ended;
    },
  };
}
