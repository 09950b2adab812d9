import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

// A program for a child process or a thread lies beside the server's own files: from a part that is loaded later it is not found.
it("the build references its worker programs only beside them", () => {
  const later = globSync("build/server/assets/*.js").filter((file) => readFileSync(file, "utf8").includes(".worker$"));
  expect(later).toEqual([]);
  expect(readFileSync("build/server/handler.js", "utf8")).toContain("decode.worker$");
});
