// Tests that `npm test` leaves to CI, and when they run there. Certain tests that take seconds: with every change. Tests that take minutes:
// in thirds, one a day, so that three days see all of it.

/** In Node, with every change. */
export const always = [
  "tests/api/damaged-files.long.test.ts",
  "tests/api/push.long.test.ts",
  "tests/api/web-pages.long.test.ts",
  "tests/contract/document.long.test.ts",
  "tests/failure/copies.long.test.ts",
  "tests/failure/metrics.long.test.ts",
  "tests/failure/nginx.long.test.ts",
  "tests/failure/pair.long.test.ts",
  "tests/failure/postgres.long.test.ts",
  "tests/failure/ready.long.test.ts",
  "tests/failure/redis.long.test.ts",
  "tests/failure/shutdown.long.test.ts",
  "tests/failure/turns.long.test.ts",
  "tests/failure/wrong-start.long.test.ts",
  "tests/pages/demo.long.test.ts",
  "tests/pages/start.long.test.ts",
  "tests/papers/cut.long.test.ts",
  "tests/papers/papers.long.test.ts",
  "tests/security/forms.long.test.ts",
  "tests/security/patterns.long.test.ts",
  "tests/security/public-pages.long.test.ts",
  "tests/security/sessions.long.test.ts",
  "tests/storage/log.long.test.ts",
  "tests/text-browsers/access.long.test.ts",
  "tests/text-browsers/admin.long.test.ts",
  "tests/text-browsers/elinks.long.test.ts",
  "tests/text-browsers/lynx-admin.long.test.ts",
  "tests/text-browsers/tools.long.test.ts",
  "tests/wire/fuzz.long.test.ts",
];

/** In Chromium, with `npm test`: the way that everybody goes, with and without script. */
export const core = ["main-flow"];

type Third = {
  /** In Node. */
  node: string[];
  /** In Chromium, with and without script. */
  chromium: string[];
  /** With pages and API in processes of their own: what crosses the shortcut that they have in one. Tests that need no script, without. */
  pair: string[];
};

export const thirds: [Third, Third, Third] = [
  {
    node: [
      "tests/api/llama.long.test.ts",
      "tests/api/bombs.long.test.ts",
      "tests/api/llama-embeddings.long.test.ts",
      "tests/failure/database.long.test.ts",
      "tests/failure/kill-errands.long.test.ts",
      "tests/failure/kill-replies.long.test.ts",
      "tests/failure/kill-writes.long.test.ts",
      "tests/failure/workers.long.test.ts",
    ],
    chromium: ["apps", "artifacts", "axe-with-script", "every-page-long", "frame", "reasoning", "tools", "with-script"],
    pair: ["files", "take-along", "tools"],
  },
  {
    node: [
      "tests/browsers/flow.long.test.ts",
      "tests/browsers/reading.long.test.ts",
      "tests/contract/clients.long.test.ts",
      "tests/failure/operator.long.test.ts",
      "tests/failure/release.long.test.ts",
      "tests/grown/grown.long.test.ts",
      "tests/grown/hosts.long.test.ts",
    ],
    chromium: ["admin", "files", "frame-with-script", "house", "plain-http-with-script", "rooms"],
    pair: ["access", "push-with-script", "reasoning"],
  },
  {
    node: [
      "tests/api/pictures.long.test.ts",
      "tests/api/scans.long.test.ts",
      "tests/failure/failover.long.test.ts",
      "tests/failure/image.long.test.ts",
      "tests/failure/kill-export.long.test.ts",
      "tests/failure/kill-import.long.test.ts",
      "tests/failure/kill-tools.long.test.ts",
      "tests/failure/power-loss.long.test.ts",
      "tests/failure/slow-readers.long.test.ts",
      "tests/pages/papers.long.test.ts",
      "tests/security/strangers.long.test.ts",
      "tests/storage/bucket.long.test.ts",
    ],
    chromium: [
      "access",
      "assistants",
      "hostile-text-with-script-long",
      "inspections",
      "offline-with-script",
      "opinions",
      "organise",
      "passkeys",
      "projects",
      "push-with-script",
      "queued",
      "reading",
      "realtime-with-script",
      "search",
      "shared-work",
      "slow-line",
      "take-along",
      "terms",
      "voice-with-script",
    ],
    pair: ["main-flow", "offline-with-script", "realtime-with-script", "voice-with-script"],
  },
];

/** The third of a day, from 0 on; `TEST_THIRD` (1 to 3) chooses another. */
export function thirdOf(day: Date): number {
  const chosen = Number(process.env.TEST_THIRD);
  return chosen >= 1 && chosen <= thirds.length ? chosen - 1 : Math.floor(day.getTime() / 86_400_000) % thirds.length;
}
