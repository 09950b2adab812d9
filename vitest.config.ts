import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    exclude: ["**/node_modules/**", "tests/**/*.long.test.ts"],
    // Real servers, browsers in terminals and password hashes take their time on two cores.
    // Most of them wait for something: two cores can do two files.
    maxWorkers: 2,
    // In ms: far more than anything takes, so that a machine that others use as well fails nothing.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
