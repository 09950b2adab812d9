import { defineConfig } from "vitest/config";
import { plugins, told } from "./tests/reporters/vitest-settings.ts";

// Tests that take long, or install something of their own: `npm run test:largo`.
export default defineConfig({
  plugins,
  test: {
    ...told,
    include: ["tests/**/*.long.test.ts"],
    maxWorkers: 3,
    testTimeout: 600_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
