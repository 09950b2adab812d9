import type { ShouldRevalidateFunctionArgs } from "react-router";

// In ms: how old a cached page may be, and how long it is kept after its last use.
export const freshFor = 15 * 60_000;
export const keptFor = 5 * 60_000;
// In ms: a page that was prefetched this recently is not refreshed on arrival.
const justNow = 10_000;

type Loading<Data> = { request: Request; serverLoader: () => Promise<Data> };
type Seen = { data: unknown; fetchedAt: number; usedAt: number };

const seen = new Map<string, Seen>();
/** The current page. Loading it again is a refresh and always asks the server. */
let current = "";
/** Paths that are being prefetched. */
const ahead = new Set<string>();
/** Counts writes: a page that was requested before a write is not cached after it. */
let writes = 0;

/** Client loader of cached pages: returns the cached data at once; they are refreshed afterwards. */
export async function showSeen<Data>({ request, serverLoader }: Loading<Data>): Promise<Data> {
  const path = pathOf(new URL(request.url));
  const onlyLooking = ahead.delete(path);
  const known = recall(path);
  if (known) return known.data as Data;
  const written = writes;
  try {
    const loaded = await serverLoader();
    if (written === writes) keepSeen(path, loaded);
    return loaded;
  } catch (error) {
    // A prefetch must not redirect or fail.
    if (onlyLooking) return null as Data;
    throw error;
  }
}

/** shouldRevalidate of layout routes: a cached page must not wait for them; they are refreshed with it. */
export function unlessSeen({ nextUrl, formMethod, defaultShouldRevalidate }: ShouldRevalidateFunctionArgs): boolean {
  return defaultShouldRevalidate && (formMethod !== undefined || recall(pathOf(nextUrl)) === undefined);
}

/** The loader data of the current page's routes, by route id. */
let shown = new Map<string, unknown>();

export function keepMatches(path: string, matches: { id: string; loaderData: unknown }[]): void {
  // A navigation may have been redirected back to this page.
  current = path;
  shown = new Map(matches.map(({ id, loaderData }) => [id, loaderData]));
}

/** Drops the cache and the current page, because another person is signed in now. */
export function forgetShown(): void {
  forgetSeen();
  current = "";
  shown = new Map();
}

export const isShown = ({ url }: Request) => pathOf(new URL(url)) === current;
export const recallShown = (routeId: string) => shown.get(routeId);

const pathOf = ({ pathname, search }: URL) => pathname + search;

/** The cached entry of a page, unless it is too old or the current page. */
function recall(path: string): Seen | undefined {
  const known = seen.get(path);
  const now = Date.now();
  const holds = known && path !== current && now - known.fetchedAt < freshFor && now - known.usedAt < keptFor;
  return holds ? known : undefined;
}

export function keepSeen(path: string, data: unknown): void {
  const now = Date.now();
  for (const [other, { usedAt }] of seen) if (now - usedAt >= keptFor && other !== current) seen.delete(other);
  seen.set(path, { data, fetchedAt: now, usedAt: now });
}

/** Sets the current page; returns whether it should be refreshed. */
export function arriveAt(path: string): boolean {
  const now = Date.now();
  const left = seen.get(current);
  if (left) left.usedAt = now;
  current = path;
  const here = seen.get(path);
  return here !== undefined && now - here.fetchedAt > justNow;
}

/** Drops the cache after a write. */
export function forgetSeen(): void {
  writes++;
  seen.clear();
}

/** Drops a page whose draft was saved, with any query, because the cached page lacks the draft. */
export function forgetPage(pathname: string): void {
  for (const path of seen.keys()) if (path.split("?")[0] === pathname) seen.delete(path);
}

export const isSeen = (path: string) => recall(path) !== undefined;
export const lookAhead = (path: string) => ahead.add(path);
