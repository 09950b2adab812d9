import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "vitest";

/** Answer of tmux to one command, line by line. */
type Reply = { lines: string[]; take: (lines: string[]) => void; refuse: (error: Error) => void };

/**
 * A program in a terminal of its own, driven by keys and read from its screen. A program that ends leaves its last
 * screen, with how it ended, so that a failed test says what happened.
 */
export class Terminal {
  /** Each has its own tmux server: what ends one cannot end another's. */
  readonly #folder = mkdtempSync(join(tmpdir(), "tertulia-tmux-"));
  /** Takes commands line by line (tmux's control mode): a process for each of them costs more than all else. */
  readonly #control: ChildProcess;
  readonly #asked: Reply[] = [];
  #failed: Error | undefined;

  constructor(command: string, columns = 110) {
    // Without a locale in the environment, text browsers show and take letters of ASCII alone.
    const inUtf8 = `env LC_ALL=C.UTF-8 ${command}`;
    const size = ["-x", String(columns), "-y", "100"];
    const tmux = ["-S", join(this.#folder, "socket"), "-f", "/dev/null", "-u"];
    execFileSync("tmux", [
      ...tmux,
      "set-option",
      "-g",
      "remain-on-exit",
      "on",
      ";",
      "new-session",
      "-d",
      ...size,
      inUtf8,
    ]);
    this.#control = spawn("tmux", [...tmux, "-C", "attach-session", "-f", "ignore-size,no-output"]);
    // Its own attaching is answered as a command, too.
    void this.#answer().catch((error: Error) => {
      this.#failed = error;
    });
    this.#read();
  }

  /** Types text as it is. */
  type(text: string): void {
    this.#send(`send-keys -l -- ${quoted(text)}`);
  }

  /** Presses keys by their tmux names: Enter, Tab, C-u … */
  press(...keys: string[]): void {
    this.#send(`send-keys ${keys.map(quoted).join(" ")}`);
  }

  async screen(): Promise<string> {
    return (await this.#ask("capture-pane -p")).join("\n");
  }

  /** The screen and, on its last line, where the cursor stands in it. */
  async view(): Promise<string> {
    const [screen, cursor] = await Promise.all([
      this.screen(),
      this.#ask('display-message -p "#{cursor_x},#{cursor_y}"'),
    ]);
    return `${screen}\n${cursor.join()}`;
  }

  /** Waits until the screen shows this; fails with the screen when it does not within 20 s. */
  async shows(text: string | RegExp): Promise<void> {
    const shown = typeof text === "string" ? expect.stringContaining(text) : expect.stringMatching(text);
    await expect.poll(() => this.screen(), { timeout: 20_000, interval: 20 }).toEqual(shown);
  }

  /** Like `shows`, after another program has had the screen: w3m may leave it empty then, until it is asked to draw it (C-l). */
  async showsAgain(text: string): Promise<void> {
    const screen = () => {
      this.press("C-l");
      return this.screen();
    };
    await expect.poll(screen, { timeout: 20_000, interval: 250 }).toEqual(expect.stringContaining(text));
  }

  /** Presses a key and waits until that has changed the screen or moved the cursor, and no more of it comes, 20 s at most. Answers the view. */
  async step(key: string): Promise<string> {
    const before = await this.view();
    let seen = before;
    this.press(key);
    await expect
      .poll(
        async () => {
          const last = seen;
          seen = await this.view();
          return seen !== before && seen === last;
        },
        { timeout: 20_000, interval: 10 },
      )
      .toBe(true);
    return seen;
  }

  async close(): Promise<void> {
    if (this.#control.exitCode === null) {
      const ended = new Promise((resolve) => this.#control.once("exit", resolve));
      this.#control.stdin?.write("kill-server\n");
      await ended;
    }
    rmSync(this.#folder, { recursive: true });
  }

  /** Sends a command whose answer says nothing; that it was refused is told by the next one that is asked. */
  #send(command: string): void {
    void this.#ask(command).catch((error: Error) => {
      this.#failed = error;
    });
  }

  #ask(command: string): Promise<string[]> {
    if (this.#failed) throw this.#failed;
    this.#control.stdin?.write(`${command}\n`);
    return this.#answer();
  }

  #answer(): Promise<string[]> {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>();
    this.#asked.push({ lines: [], take: resolve, refuse: reject });
    return promise;
  }

  /** An answer stands between `%begin` and `%end`, or `%error`; between answers tmux tells what has changed. */
  #read(): void {
    let current: Reply | undefined;
    const lines = createInterface({ input: this.#control.stdout as NodeJS.ReadableStream });
    lines.on("line", (line) => {
      if (!current) {
        if (line.startsWith("%begin ")) current = this.#asked.shift();
      } else if (line.startsWith("%end ")) {
        current.take(current.lines);
        current = undefined;
      } else if (line.startsWith("%error ")) {
        current.refuse(new Error(current.lines.join("\n")));
        current = undefined;
      } else current.lines.push(line);
    });
    lines.on("close", () => {
      const error = new Error("tmux has ended");
      for (const { refuse } of this.#asked) refuse(error);
      this.#failed ??= error;
    });
  }
}

const quoted = (text: string) => `"${text.replace(/[\\"$]/g, "\\$&").replaceAll("\n", "\\n")}"`;
