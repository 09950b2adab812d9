import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { readSettings, settingNames } from "../../app/process/config.server.ts";

const read = (name: string) => readFileSync(join(import.meta.dirname, "..", "..", name), "utf8");
const example = read(".env.example");

it("are all in .env.example, those that are set there as they are without it", () => {
  const named = [...example.matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name);
  expect(named.toSorted()).toEqual(settingNames.toSorted());
  const dataDir = mkdtempSync(join(tmpdir(), "tertulia-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const { DATA_DIR, ...given } = parseEnv(example);
  expect(DATA_DIR).toBe("./data");
  expect(readSettings({ ...given, DATA_DIR: dataDir })).toEqual(readSettings({ DATA_DIR: dataDir }));
});

it("are all explained to those who host it", () => {
  const explained = read("docs/operar.md");
  expect(settingNames.filter((name) => !explained.includes(`\`${name}\``))).toEqual([]);
});
