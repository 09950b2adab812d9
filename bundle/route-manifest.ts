import { deepStrictEqual } from "node:assert";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { minifySync } from "vite";

const flags = [
  "hasAction",
  "hasLoader",
  "hasClientAction",
  "hasClientLoader",
  "hasClientMiddleware",
  "hasDefaultExport",
  "hasErrorBoundary",
] as const;

type Route = { id: string; parentId?: string; path?: string; index?: true; module: string } & Record<
  (typeof flags)[number],
  boolean
>;
type Manifest = {
  entry: { imports: string[]; css?: string[] };
  routes: Record<string, Route & { imports?: string[]; css?: string[] }>;
};

/**
 * Writes the table of all routes, which every page with script loads, anew in half the bytes: a line for each, and the
 * script that makes of them what React Router expects. What a module imports is left out, since only `prefetch` of a
 * link asks for it, and no link has that; and so are files and feeds, which are never reached but by a document or a
 * download. The one style sheet belongs to the root. Whatever else would be lost makes the build fail.
 *
 * @param assets the folder of the built client's files
 */
export async function packRouteManifest(assets: string): Promise<void> {
  const name = (await readdir(assets)).find((file) => /^manifest-\w+\.js$/.test(file));
  if (!name) throw new Error(`There is no manifest of routes in ${assets}.`);
  const file = join(assets, name);
  const manifest = evaluate(await readFile(file, "utf8"));
  const needed = whatIsNeeded(manifest);
  const packed = pack(needed);
  deepStrictEqual(evaluate(packed), needed);
  await writeFile(file, packed);
}

function evaluate(script: string): Manifest {
  const window: { __reactRouterManifest?: Manifest } = {};
  runInNewContext(script, { window });
  // Objects of another context have other prototypes.
  return JSON.parse(JSON.stringify(window.__reactRouterManifest));
}

function whatIsNeeded(manifest: Manifest): Manifest {
  const sheet = manifest.routes.root?.css;
  const parents = new Set(Object.values(manifest.routes).map(({ parentId }) => parentId));
  const met = ({ id, hasAction, hasDefaultExport }: Route) => hasDefaultExport || hasAction || parents.has(id);
  const routes = Object.values(manifest.routes)
    .filter(met)
    .map(({ imports: _, css = [], ...route }) => {
      if (css.length > 0) deepStrictEqual(css, sheet, `${route.id} has a style sheet of its own.`);
      return [route.id, route.id === "root" ? { ...route, css } : route];
    });
  const { css: _, ...entry } = manifest.entry;
  return { ...manifest, entry: { ...entry, imports: [] }, routes: Object.fromEntries(routes) };
}

function pack({ routes, ...rest }: Manifest): string {
  const lines = Object.values(routes).map((route) => {
    const path = route.index ? "." : (route.path ?? "");
    const bits = flags.reduce((sum, flag, n) => sum | (route[flag] ? 1 << n : 0), 0);
    // A chunk is mostly named after the last part of the route's id.
    const chunk = route.module
      .slice("/assets/".length, -".js".length)
      .replace(new RegExp(`^${lastPart(route.id)}-`), "-");
    return " ".repeat(depthOf(route, routes)) + [route.id, path, bits, chunk].join("|");
  });
  const parts = [rest, routes.root?.css, flags, lines.join("\n")].map((part) => JSON.stringify(part));
  return minifySync("manifest.js", `window.__reactRouterManifest = (${unpack})(${parts})`).code;
}

const lastPart = (id: string) => id.split("/").at(-1);

function depthOf({ parentId }: Route, routes: Manifest["routes"]): number {
  const parent = parentId === undefined ? undefined : routes[parentId];
  return parent ? depthOf(parent, routes) + 1 : 0;
}

/**
 * Runs in the browser, so it stands alone. A line is as far indented as its route is deep: `id|path|flags|chunk`. The
 * path `.` is an index route's; layouts have none.
 */
function unpack(manifest: object, css: string[], names: string[], lines: string): object {
  const trail: string[] = [];
  const routes: Record<string, object> = {};
  for (const line of lines.split("\n")) {
    const [id = "", path, bits, chunk = ""] = line.trim().split("|");
    const depth = line.search(/\S/);
    trail[depth] = id;
    routes[id] = {
      id,
      ...(depth ? { parentId: trail[depth - 1] } : { css }),
      ...(path === "." ? { index: true } : (path || !depth) && { path }),
      ...Object.fromEntries(names.map((name, n) => [name, (Number(bits) & (1 << n)) > 0])),
      module: `/assets/${chunk[0] === "-" ? id.split("/").pop() : ""}${chunk}.js`,
    };
  }
  return { ...manifest, routes };
}
