import { defineConfig } from "vitest/config";
import { plugins, told } from "./tests/reporters/vitest-settings.ts";

// They replace modules for all that is loaded after them.
const alone = ["tests/security/passwords.test.ts"];

export default defineConfig({
  plugins,
  test: {
    ...told,
    // Real servers, browsers in terminals and models wait more than they work: two cores can do four files.
    maxWorkers: 4,
    // In ms: far more than anything takes, so that a machine that others use as well fails nothing.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    exclude: ["**/node_modules/**", "tests/**/*.long.test.ts"],
    projects: [
      // Shared imports are loaded once for each of the four, not once for each file.
      { extends: true, test: { name: "tests", include: ["tests/**/*.test.ts"], exclude: alone, isolate: false } },
      { extends: true, test: { name: "alone", include: alone } },
    ],
  },
});
