// `npm run --silent sbom` prints what this version is made of, as CycloneDX: every package that runs, with its version, licence and hash.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

type Component = { "bom-ref": string };
type Bill = { components: Component[]; dependencies: { ref: string; dependsOn: string[] }[] };

const root = join(import.meta.dirname, "..");
// `--omit dev` would leave out what is used by a package for development as well.
const all = execFileSync("npm", ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"], {
  cwd: root,
  encoding: "utf8",
  stdio: ["ignore", "pipe", "ignore"],
  maxBuffer: 64 * 1024 * 1024,
});
const bill = JSON.parse(all) as Bill;
const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
  packages: Record<string, { version?: string; dev?: boolean }>;
};
const needed = new Set(
  Object.entries(packages)
    .filter(([path, { dev }]) => path !== "" && !dev)
    .map(
      ([path, { version }]) => `${path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)}@${version}`,
    ),
);
// A package that is there twice has a number behind its reference.
const isNeeded = (ref: string) => needed.has(ref.replace(/\|.*$/, ""));
const components = bill.components.filter((one) => isNeeded(one["bom-ref"]));
const known = new Set(components.map((one) => one["bom-ref"]));
const dependencies = bill.dependencies
  .filter(({ ref }) => known.has(ref) || ref.startsWith("tertulia@"))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => known.has(other)) }));
console.log(JSON.stringify({ ...bill, components, dependencies }, null, 2));
