import { join } from "node:path";
import { outcomeFile } from "./outcome.ts";

const build = join(import.meta.dirname, "../../build/server");

/**
 * Programs that the API starts for documents and pages are those of the build: from their TypeScript each start takes twice as long.
 * By hand, where the build may be old, they are the sources.
 */
const builtWorkers = {
  name: "built-workers",
  transform: (code: string) =>
    code.replace(
      /new URL\(`\.\/([\w-]+\.worker)\$\{extname\(import\.meta\.filename\)\}`, import\.meta\.url\)/,
      (_, name: string) => `new URL("file://${build}/${name}.js")`,
    ),
};

export const plugins = outcomeFile ? [builtWorkers] : [];

/** How tests are told, and that one which fails is tried again: tests/run.ts counts those. */
export const told = {
  reporters: outcomeFile ? ["tests/reporters/vitest.ts"] : ["default"],
  retry: outcomeFile ? 1 : 0,
};
