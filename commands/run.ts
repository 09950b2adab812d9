import { ConfigError } from "../app/process/config.server.ts";

/** Runs an operator's command. Of a ConfigError it prints only the message; all other errors are rethrown. */
export async function run(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
