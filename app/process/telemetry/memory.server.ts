/**
 * The memory that this process occupies, in bytes. If the system does not tell, as in a container without /proc, the most that it has
 * occupied so far.
 */
export function memoryInUse(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return process.resourceUsage().maxRSS * 1024;
  }
}
