import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readText } from "../../app/files/formats/read.server.ts";
import { mediaTypeOf } from "../../app/files/media-type.server.ts";
import { isPicture, papers } from "./reading.ts";

const places = 20;
const folder = join(import.meta.dirname, "set");

describe("a paper that was cut anywhere is read as far as it goes, or says that it can't be", () => {
  it.each(papers.filter((name) => !isPicture(name) && !name.endsWith(".zip")))("%s", async (name) => {
    const path = join(folder, name);
    const bytes = readFileSync(path);
    const mediaType = await mediaTypeOf(path, name, statSync(path).size);
    for (let place = 0; place < places; place++) {
      const cut = bytes.subarray(0, Math.floor((bytes.length * place) / places));
      const read = await readText(cut, mediaType, 1_000_000).catch((error: unknown) => error);
      // One with a cause is of a reader that the cut has confused.
      if (read instanceof Error) expect([read.name, read.cause]).toEqual(["Unreadable", undefined]);
    }
  });
});
