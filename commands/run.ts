import { ConfigError } from "../app/config.server.ts";

/** Runs a command of the operator's: what is wrong with the settings is a sentence, all else is as it was thrown. */
export async function run(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
