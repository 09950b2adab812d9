import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

type Locked = { packages: Record<string, { version?: string; dev?: boolean; optional?: boolean }> };
type Bill = {
  bomFormat: string;
  components: { name: string; version: string; purl: string; hashes?: { alg: string }[] }[];
};

it("npm run sbom lists production packages with hashes, never development-only", () => {
  const bill = JSON.parse(
    execFileSync(process.execPath, ["commands/bill-of-materials.ts"], { encoding: "utf8" }),
  ) as Bill;
  expect(bill.bomFormat).toBe("CycloneDX");
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as Locked;
  const { dependencies, devDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as Record<
    "dependencies" | "devDependencies",
    Record<string, string>
  >;
  const names = new Set(bill.components.map(({ name }) => name));
  expect(Object.keys(dependencies).filter((name) => !names.has(name))).toEqual([]);
  const listed = new Set(bill.components.map(({ name, version }) => `${name}@${version}`));
  const locked = Object.keys(devDependencies).map((name) => ({ name, ...packages[`node_modules/${name}`] }));
  const onlyDev = locked.filter(({ dev }) => dev).map(({ name, version }) => `${name}@${version}`);
  expect(onlyDev.length).toBeGreaterThan(10);
  expect(onlyDev.filter((one) => listed.has(one))).toEqual([]);
  for (const { name, version, purl, hashes } of bill.components) {
    expect([name, version, purl]).toEqual([name, expect.stringMatching(/^\d/), expect.stringContaining("pkg:npm/")]);
    expect([name, hashes?.[0]?.alg]).toEqual([name, "SHA-512"]);
  }
});
