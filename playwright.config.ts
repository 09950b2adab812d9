import { existsSync } from "node:fs";
import { defineConfig, devices } from "@playwright/test";

// Debian's Chromium where there is one, best without a window's parts; Playwright's own elsewhere.
const chromium = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => existsSync(path));
const browser = {
  ...devices["Desktop Chrome"],
  // Where there is no line is what offline-with-script.spec.ts tries; elsewhere a worker would answer in place of the server.
  serviceWorkers: "block" as const,
  launchOptions: { ...(chromium && { executablePath: chromium }), args: ["--no-sandbox"] },
};

export default defineConfig({
  testDir: "tests/e2e",
  // Every page, looked at in every way, takes minutes: `npm run test:largo`.
  testIgnore: process.env.TEST_LONG ? [] : "*-long.spec.ts",
  outputDir: "test-results/e2e",
  workers: 2,
  // In ms: far more than anything takes, so that a machine that others use as well fails nothing.
  timeout: 180_000,
  expect: { timeout: 20_000 },
  reporter: [
    ["line"],
    ["json", { outputFile: process.env.TEST_LONG ? "test-results/e2e-long.json" : "test-results/e2e.json" }],
  ],
  projects: [
    { name: "js", use: { ...browser, javaScriptEnabled: true } },
    {
      name: "nojs",
      use: { ...browser, javaScriptEnabled: false },
      testIgnore: ["*with-script*.spec.ts", ...(process.env.TEST_LONG ? [] : ["*-long.spec.ts"])],
    },
  ],
});
