import { defineConfig } from "vitest/config";

// What takes minutes, or installs something of its own: `npm run test:largo`.
export default defineConfig({
  test: { include: ["tests/**/*.long.test.ts"], maxWorkers: 1, testTimeout: 600_000, hookTimeout: 120_000 },
});
