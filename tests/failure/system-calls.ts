import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A system call recorded by strace. `last`: its last numeric argument; `ended`: when it returned, in ms since 1970. */
export type SystemCall = {
  name: string;
  paths: string[];
  data: Buffer;
  flags: string;
  last: number;
  result: number;
  ended: number;
};

// All that changes a file or its name, or makes that last.
const traced = [
  ["openat", "mkdir", "rename", "renameat", "renameat2", "unlink", "unlinkat", "link", "linkat", "symlink"],
  ["write", "pwrite64", "writev", "pwritev", "pwritev2", "ftruncate", "fallocate", "copy_file_range", "sendfile"],
  ["fsync", "fdatasync", "sync_file_range", "msync"],
].flat();

/** Whether processes may be watched here, and have these system calls. */
export const mayTrace = () =>
  spawnSync("sh", ["-c", `sleep 0.2 & strace -e trace=${traced} -o /dev/null -p $!`]).status === 0;

/** Watches what a process asks of the operating system from now on; what this answers tells it once the process has ended. */
export async function traceSystemCalls(pid: number): Promise<() => Promise<SystemCall[]>> {
  const folder = mkdtempSync(join(tmpdir(), "tertulia-strace-"));
  // `-ff`: a file for each thread, so lines do not interleave. `-y`: paths of descriptors. `-xx`: strings in hexadecimal.
  const how = ["-f", "-ff", "-ttt", "-T", "-y", "-xx", "-s", "10000000", "-e", "signal=none"];
  const what = ["-e", `trace=${traced}`, "-o", join(folder, "thread"), "-p", String(pid)];
  const strace = spawn("strace", [...how, ...what], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(strace, "exit");
  await once(strace.stderr, "data");
  return async () => {
    await ended;
    const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "latin1").split("\n"));
    rmSync(folder, { recursive: true });
    return lines.flatMap(parse).sort((a, b) => a.ended - b.ended);
  };
}

const line = /^(?<began>[\d.]+) (?<name>\w+)\((?<args>.*)\) += (?<result>\d+)(?:<.*>)? <(?<took>[\d.]+)>$/;
const descriptor = /\b\d+<((?:\\x..)+)>/g;
const string = /"((?:\\x..)*)"/g;

/** Writes that failed or did not end have changed nothing that anybody was told of. */
function parse(text: string): SystemCall[] {
  const { began, name = "", args = "", result, took } = line.exec(text)?.groups ?? {};
  if (result === undefined) return [];
  const descriptors = [...args.matchAll(descriptor)].map(([, hex = ""]) => bytesOf(hex));
  const strings = [...args.matchAll(string)].map(([, hex = ""]) => bytesOf(hex));
  const named = descriptors.length === 0;
  return [
    {
      name,
      paths: (named ? strings : descriptors).map(String),
      data: named ? Buffer.alloc(0) : Buffer.concat(strings),
      flags: named ? args : "",
      last: Number(/(\d+)$/.exec(args)?.[1]),
      result: Number(result),
      ended: (Number(began) + Number(took)) * 1000,
    },
  ];
}

const bytesOf = (hex: string) => Buffer.from(hex.replaceAll("\\x", ""), "hex");
