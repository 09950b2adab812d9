import { readFileSync } from "node:fs";

/** Resident memory of a process in MB. */
export const memoryOf = (pid = 0) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

/** Seconds of processor that a process has used, as Linux counts them: in hundredths. */
export function cpuOf(pid = 0): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
