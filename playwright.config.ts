import { defineConfig, devices } from "@playwright/test";
import { outcomeFile } from "./tests/reporters/outcome.ts";
import { systemChromium } from "./tests/support/programs.ts";

const browser = {
  ...devices["Desktop Chrome"],
  // Only offline-with-script.spec.ts tries pages without a line; elsewhere a worker would answer in place of the server.
  serviceWorkers: "block" as const,
  launchOptions: { ...(systemChromium && { executablePath: systemChromium }), args: ["--no-sandbox"] },
};

export default defineConfig({
  testDir: "tests/e2e",
  // Every page, looked at in every way, takes minutes: `npm run test:largo`.
  testIgnore: process.env.TEST_LONG ? [] : "*-long.spec.ts",
  outputDir: "test-results/e2e",
  workers: 3,
  // In ms: far more than anything takes, so that a machine that others use as well fails nothing.
  timeout: 180_000,
  expect: { timeout: 20_000 },
  reporter: outcomeFile ? "./tests/reporters/playwright.ts" : "line",
  // Counted and told by tests/run.ts.
  retries: outcomeFile ? 1 : 0,
  projects: [
    {
      name: "js",
      use: { ...browser, javaScriptEnabled: true },
      // Pages and API in two processes, once: with a script only what needs one.
      ...(process.env.TEST_PAIR === "once" && { testMatch: "*with-script*.spec.ts" }),
    },
    {
      name: "nojs",
      use: { ...browser, javaScriptEnabled: false },
      testIgnore: ["*with-script*.spec.ts", ...(process.env.TEST_LONG ? [] : ["*-long.spec.ts"])],
    },
  ],
});
