import { searchIn } from "../../../web/search.server.ts";
import type { AnyAdminResource, Column } from "../descriptions/description.ts";

/** Search, filters, order, page and columns in a list's address. Unknown ones are left out. */
export function listOf(url: URL, resource: AnyAdminResource) {
  const given = (name: string) => url.searchParams.get(name) ?? "";
  const q = searchIn(url);
  const filter: Record<string, string | boolean> = {};
  for (const { name, flag } of resource.filters) {
    const value = given(name);
    if (value) filter[name] = flag ? value === "true" : value;
  }
  for (const name of belongings) if (given(name)) filter[name] = given(name);
  const [column = "", direction = "asc"] = given("orden").split(".");
  const sorted = resource.columns.find(({ name, sorted: may }) => may && name === column);
  const size = sizes.find((offered) => offered === given("filas")) ?? sizes[0];
  const chosen = url.searchParams.getAll("col");
  const columns = resource.columns.filter(({ name, hidden }, index) =>
    index === 0 ? true : chosen.length > 0 ? chosen.includes(name) : !hidden,
  );
  const before = given("antes").split("~").filter(Boolean);
  const cursor = given("cursor");
  const page = cursor ? Math.max(2, Number.parseInt(given("pagina"), 10) || 0) : 1;
  const query = {
    limit: size,
    ...(q && { q }),
    ...(Object.keys(filter).length > 0 && { filter: JSON.stringify(filter) }),
    ...(sorted && { sort: JSON.stringify({ [column]: direction === "desc" ? "desc" : "asc" }) }),
    ...(cursor && { cursor }),
  };
  return { q, filter, column: sorted ? column : "", direction, size, columns, before, cursor, page, query };
}

/** Filters that come by a link and have no field: they name the person or thing that the items belong to. */
const belongings = ["userId", "groupId", "chatId", "projectId", "modelId"];

export const sizes = ["30", "60", "100"] as const;

/** The URL of a list with changed parameters. A cursor fits only its own order and filters, so the page is dropped. */
export function withParams(url: URL, change: Record<string, string>, keepPage = false): string {
  const params = new URLSearchParams(url.searchParams);
  if (!keepPage) for (const name of ["cursor", "antes", "pagina"]) params.delete(name);
  for (const [name, value] of Object.entries(change)) {
    if (value) params.set(name, value);
    else params.delete(name);
  }
  return params.size > 0 ? `?${params}` : url.pathname;
}

// The length of a URL is limited, so only this many previous cursors are kept; before them comes the first page.
const trail = 20;
const firstPage = "0";

/** The addresses of the pages before and after this one; they carry the cursors of the earlier pages. */
export function pagesOf(url: URL, { before, cursor, page }: ReturnType<typeof listOf>, nextCursor: string | null) {
  const to = (cursors: string[], into: string, number: number) =>
    withParams(url, { cursor: into, antes: cursors.slice(-trail).join("~"), pagina: String(number) }, true);
  const back = before.at(-1) ?? firstPage;
  return {
    previous: !cursor ? undefined : back === firstPage ? withParams(url, {}) : to(before.slice(0, -1), back, page - 1),
    next: nextCursor ? to([...before, cursor || firstPage], nextCursor, page + 1) : undefined,
  };
}

/** The heads of a table's columns: the links that sort by them, and the current order. */
export function headsOf(url: URL, columns: Column[], column: string, direction: string) {
  const order = direction === "desc" ? ("descending" as const) : ("ascending" as const);
  return columns.map(({ name, label, kind, sorted }) => {
    const here = name === column;
    const next = here && direction === "asc" ? "desc" : "asc";
    return {
      name,
      label,
      number: kind === "number",
      to: sorted ? withParams(url, { orden: `${name}.${next}` }) : undefined,
      order: here ? order : undefined,
    };
  });
}
