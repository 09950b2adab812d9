import { existsSync } from "node:fs";
import { join } from "node:path";

// Debian keeps servers where only root looks.
const folders = `${process.env.PATH ?? ""}:/usr/sbin`.split(":");

/** Path of a command; undefined where this machine does not have it. */
export function pathOf(command: string): string | undefined {
  return folders.map((folder) => join(folder, command)).find((path) => existsSync(path));
}

/** Whether this machine has all of these commands: tests that need one which is missing are left out, and named. */
export const hasPrograms = (...commands: string[]): boolean => commands.every((command) => pathOf(command));

/** Debian's Chromium where there is one, best without a window's parts; undefined for Playwright's own. */
export const systemChromium = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
  .map(pathOf)
  .find(Boolean);
