import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    // Real servers, browsers in terminals and password hashes take their time on two cores.
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
