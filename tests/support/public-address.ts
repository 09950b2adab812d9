import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";

/** Whether a script can be given a network of its own here. */
export const mayUnshare = spawnSync("unshare", ["--net", "true"]).status === 0;

/** Gives the network of this process, which must be its own, a public address, and returns that. */
export function takePublicAddress(address = "93.184.215.14"): string {
  execFileSync("ip", ["link", "set", "lo", "up"]);
  execFileSync("ip", ["addr", "add", `${address}/32`, "dev", "lo"]);
  return address;
}

/** Runs a script of this folder in a network of its own; returns what it prints as JSON. */
export function inOwnNetwork<Printed>(script: string): Printed {
  const path = join(import.meta.dirname, script);
  const printed = execFileSync("unshare", ["--net", process.execPath, path], { encoding: "utf8", timeout: 120_000 });
  return JSON.parse(printed) as Printed;
}
