import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";

/**
 * A program in a terminal of its own, driven by keys and read from its screen. A program that ends leaves its last
 * screen, with how it ended, so that a failed test says what happened.
 */
export class Terminal {
  /** Each has its own tmux server: what ends one cannot end another's. */
  readonly #folder = mkdtempSync(join(tmpdir(), "tertulia-tmux-"));

  constructor(command: string, columns = 110) {
    // Where the environment names no locale, text browsers show and take letters of ASCII alone.
    const inUtf8 = `env LC_ALL=C.UTF-8 ${command}`;
    const size = ["-x", String(columns), "-y", "100"];
    this.#tmux("set-option", "-g", "remain-on-exit", "on", ";", "new-session", "-d", ...size, inUtf8);
  }

  /** Types text as it is. */
  type(text: string): void {
    this.#tmux("send-keys", "-l", text);
  }

  /** Presses keys by their tmux names: Enter, Tab, C-u … */
  press(...keys: string[]): void {
    this.#tmux("send-keys", ...keys);
  }

  screen(): string {
    return this.#tmux("capture-pane", "-p");
  }

  /** The screen and where the cursor stands in it. */
  view(): string {
    return this.screen() + this.#tmux("display-message", "-p", "#{cursor_x},#{cursor_y}");
  }

  /** Waits until the screen shows this; fails with the screen when it does not within 20 s. */
  async shows(text: string | RegExp): Promise<void> {
    const shown = typeof text === "string" ? expect.stringContaining(text) : expect.stringMatching(text);
    await expect.poll(() => this.screen(), { timeout: 20_000, interval: 40 }).toEqual(shown);
  }

  close(): void {
    this.#tmux("kill-server");
    rmSync(this.#folder, { recursive: true });
  }

  #tmux(...args: string[]): string {
    const socket = join(this.#folder, "socket");
    return execFileSync("tmux", ["-S", socket, "-f", "/dev/null", "-u", ...args], { encoding: "utf8" });
  }
}
