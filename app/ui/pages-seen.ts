import type { ShouldRevalidateFunctionArgs } from "react-router";

// The seed's query cache (§4, §9), in ms: how long a page may be shown as it was, and how long after its last use it is kept.
export const freshFor = 15 * 60_000;
export const keptFor = 5 * 60_000;
// What was fetched a moment ago, on intent, is not fetched again.
const justNow = 10_000;

type Loading<Data> = { request: Request; serverLoader: () => Promise<Data> };
type Seen = { data: unknown; fetchedAt: number; usedAt: number };

const seen = new Map<string, Seen>();
/** The page on the screen. What is asked for it is a refresh, and comes from the server. */
let current = "";
/** What is about to be fetched because somebody seems to be going there. */
const ahead = new Set<string>();
/** How often something was written: what was asked for before a write is not kept after it. */
let writes = 0;

/** The client loader of pages that are revisited: at once as they were last seen, then refreshed behind. */
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
    // A redirect or an error is for those who really go there.
    if (onlyLooking) return null as Data;
    throw error;
  }
}

/** For the routes around a page: what comes at once must not wait for them; it is refreshed together with them. */
export function unlessSeen({ nextUrl, formMethod, defaultShouldRevalidate }: ShouldRevalidateFunctionArgs): boolean {
  return defaultShouldRevalidate && (formMethod !== undefined || recall(pathOf(nextUrl)) === undefined);
}

/** What every route of the page on the screen shows, by the route's id. */
let shown = new Map<string, unknown>();

export function keepMatches(path: string, matches: { id: string; loaderData: unknown }[]): void {
  // What led elsewhere may have led back here.
  current = path;
  shown = new Map(matches.map(({ id, loaderData }) => [id, loaderData]));
}

/** The page on the screen was not for whoever is here now. */
export function forgetShown(): void {
  forgetSeen();
  current = "";
  shown = new Map();
}

export const isShown = ({ url }: Request) => pathOf(new URL(url)) === current;
export const recallShown = (routeId: string) => shown.get(routeId);

const pathOf = ({ pathname, search }: URL) => pathname + search;

/** What may be shown of a page as it was; never of the one on the screen. */
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

/** Says which page is on the screen; answers whether what it shows should be asked for again. */
export function arriveAt(path: string): boolean {
  const now = Date.now();
  const left = seen.get(current);
  if (left) left.usedAt = now;
  current = path;
  const here = seen.get(path);
  return here !== undefined && now - here.fetchedAt > justNow;
}

/** Something was written: no page is what it was. */
export function forgetSeen(): void {
  writes++;
  seen.clear();
}

/** A draft was kept: its page would come back without it, whatever it was asked for with. */
export function forgetPage(pathname: string): void {
  for (const path of seen.keys()) if (path.split("?")[0] === pathname) seen.delete(path);
}

export const isSeen = (path: string) => recall(path) !== undefined;
export const lookAhead = (path: string) => ahead.add(path);
