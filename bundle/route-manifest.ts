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
 * Writes the table of all routes, which every page with script loads, anew in half the bytes: a few columns, and the script that makes of
 * them what React Router expects. The imports of a module are left out, since only `prefetch` of a link asks for it, and no link has that;
 * and so are files, feeds and what `routes.ts` calls a document, which are never reached but by a document or a download. The one style sheet belongs to the root. Whatever
 * else would be lost makes the build fail.
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
  const met = ({ id, hasAction, hasDefaultExport }: Route) =>
    !id.startsWith("document/") && (hasDefaultExport || hasAction || parents.has(id));
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
  const all = Object.values(routes);
  // Column by column, which compresses better than line by line; most ids begin with their folder.
  const shortId = ({ id }: Route) => (id.startsWith(folder) ? id.slice(folder.length) : `.${id}`);
  const columns = [
    all.map((route) => " ".repeat(depthOf(route, routes)) + shortId(route)).join("\n"),
    all.map((route) => (route.index ? "." : (route.path ?? ""))).join("\n"),
    all.map((route) => flags.reduce((sum, flag, n) => sum | (route[flag] ? 1 << n : 0), 0)).join("|"),
    // A chunk is mostly named after the last part of the route's id.
    all
      .map(({ id, module }) =>
        module.slice("/assets/".length, -".js".length).replace(new RegExp(`^${lastPart(id)}-`), "-"),
      )
      .join("|"),
  ];
  const parts = [rest, routes.root?.css, flags, columns].map((part) => JSON.stringify(part));
  return minifySync("manifest.js", `window.__reactRouterManifest = (${unpack})(${parts})`).code;
}

const folder = "routes/";

const lastPart = (id: string) => id.split("/").at(-1);

function depthOf({ parentId }: Route, routes: Manifest["routes"]): number {
  const parent = parentId === undefined ? undefined : routes[parentId];
  return parent ? depthOf(parent, routes) + 1 : 0;
}

/**
 * Runs in the browser, so it stands alone. `columns`: of each route its id, as far indented as the route is deep and without
 * `routes/` (behind a dot: as it is), its path, its flags and its chunk. The path `.` is an index route's; layouts have none.
 */
function unpack(manifest: object, css: string[], names: string[], columns: string[]): object {
  const trail: string[] = [];
  const routes: Record<string, object> = {};
  const [ids = [], paths = [], bits = [], chunks = []] = columns.map((column) => column.split(/[\n|]/));
  ids.forEach((indented, n) => {
    const said = indented.trim();
    const id = said[0] === "." ? said.slice(1) : `routes/${said}`;
    const depth = indented.length - said.length;
    const path = paths[n];
    const chunk = chunks[n] ?? "";
    trail[depth] = id;
    routes[id] = {
      id,
      ...(depth ? { parentId: trail[depth - 1] } : { css }),
      ...(path === "." ? { index: true } : (path || !depth) && { path }),
      ...Object.fromEntries(names.map((name, bit) => [name, (Number(bits[n]) & (1 << bit)) > 0])),
      module: `/assets/${chunk[0] === "-" ? id.split("/").pop() : ""}${chunk}.js`,
    };
  });
  return { ...manifest, routes };
}
