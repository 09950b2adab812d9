import { execFileSync } from "node:child_process";
import { expect } from "vitest";

/** A program in a terminal of its own, driven by keys and read from its screen. */
export class Terminal {
  readonly #session = `tertulia-${crypto.randomUUID()}`;

  constructor(command: string, columns = 110) {
    // Where the environment names no locale, text browsers show and take letters of ASCII alone.
    const inUtf8 = `env LC_ALL=C.UTF-8 ${command}`;
    this.#tmux("new-session", "-d", "-x", String(columns), "-y", "100", "-s", this.#session, inUtf8);
  }

  /** Types text as it is. */
  type(text: string): void {
    this.#tmux("send-keys", "-t", this.#session, "-l", text);
  }

  /** Presses keys by their tmux names: Enter, Tab, C-u … */
  press(...keys: string[]): void {
    this.#tmux("send-keys", "-t", this.#session, ...keys);
  }

  screen(): string {
    return this.#tmux("capture-pane", "-p", "-t", this.#session);
  }

  /** The screen and where the cursor stands in it. */
  view(): string {
    return this.screen() + this.#tmux("display-message", "-p", "-t", this.#session, "#{cursor_x},#{cursor_y}");
  }

  /** Waits until the screen shows this; fails with the screen when it does not within 20 s. */
  async shows(text: string | RegExp): Promise<void> {
    const shown = typeof text === "string" ? expect.stringContaining(text) : expect.stringMatching(text);
    await expect.poll(() => this.screen(), { timeout: 20_000, interval: 40 }).toEqual(shown);
  }

  close(): void {
    this.#tmux("kill-session", "-t", this.#session);
  }

  #tmux(...args: string[]): string {
    return execFileSync("tmux", ["-L", "tertulia-tests", "-f", "/dev/null", "-u", ...args], { encoding: "utf8" });
  }
}
