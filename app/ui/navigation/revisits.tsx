import { useEffect } from "react";
import { useFetcher, useFetchers, useLocation, useMatches, useNavigation, useRevalidator } from "react-router";
import { handleOf } from "./page-handle.ts";
import { arriveAt, forgetSeen, isSeen, keepMatches, keepSeen, lookAhead } from "./pages-seen.ts";

/** Caches pages for the next visit, refreshes them when they are shown again, and prefetches links on intent. */
export function Revisits({ personId }: { personId: string | null }) {
  const { pathname, search } = useLocation();
  const path = pathname + search;
  const matches = useMatches();
  const { revalidate } = useRevalidator();
  const navigation = useNavigation();
  const fetchers = useFetchers();
  const writing = navigation.state === "submitting" || fetchers.some(({ state }) => state === "submitting");
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, what came with the document
  useEffect(() => {
    const page = matches.at(-1);
    // A dialog's data belong to another route than the page's.
    if (page?.loaderData && !handleOf(page)?.dialog) keepSeen(page.pathname + search, page.loaderData);
  }, []);
  useEffect(() => {
    if (!arriveAt(path)) return;
    stopLooking();
    void revalidate();
  }, [path, revalidate]);
  useEffect(() => keepMatches(path, matches), [path, matches]);
  useEffect(() => {
    if (!writing) return;
    stopLooking();
    forgetSeen();
    // Pages that were fetched during the write may be older than it.
    return forgetSeen;
  }, [writing]);
  useEffect(() => forgetWithPerson(personId), [personId]);
  return slots.map((slot) => <Slot key={slot} />);
}

let seenBy: string | null | undefined;

/** Drops the cache when another person signs in, here or in another tab. The browser does not store who the person is. */
function forgetWithPerson(personId: string | null): () => void {
  if (seenBy !== personId && seenBy !== undefined) forgetSeen();
  seenBy = personId;
  const tabs = new BroadcastChannel("tertulia-person");
  tabs.onmessage = ({ data }) => data !== personId && forgetSeen();
  tabs.postMessage(personId);
  return () => tabs.close();
}

// How many pages are fetched ahead at the same time.
export const slots = [1, 2, 3, 4];
const waiting: string[] = [];
const fetching = new Set<string>();
const idle = new Set<() => void>();
const resets = new Set<() => void>();

/** Cancels prefetches: a revalidation would repeat them as if they were real visits. */
export function stopLooking(): void {
  waiting.length = 0;
  for (const reset of resets) reset();
}

let answers = true;

/** Sets whether the server is reachable. While it is not, prefetching is off: a failed module would reload the document. */
export function setAnswers(does: boolean): void {
  answers = does;
}

/** One of the fetches on intent that may run at the same time. */
function Slot() {
  const fetcher = useFetcher();
  const { state, data, load, reset } = fetcher;
  useEffect(() => {
    resets.add(reset);
    return () => {
      resets.delete(reset);
    };
  }, [reset]);
  useEffect(() => {
    if (state !== "idle") return;
    // The loader has cached the result; reset the fetcher so that the router does not revalidate it.
    if (data !== undefined) reset();
    const take = () => {
      const path = waiting.shift();
      if (!path) return;
      idle.delete(take);
      lookAhead(path);
      fetching.add(path);
      void load(path).finally(() => fetching.delete(path));
    };
    idle.add(take);
    take();
    return () => {
      idle.delete(take);
    };
  }, [state, data, load, reset]);
  return null;
}

/** Fetches the page of a link that somebody points at or has reached with the keyboard. */
export function fetchOnIntent({ target }: Event): void {
  if (!answers || !navigator.onLine) return;
  const link = target instanceof Element ? target.closest<HTMLAnchorElement>("a[data-ahead]") : null;
  if (!link) return;
  const path = link.pathname + link.search;
  const asked = waiting.includes(path) || fetching.has(path);
  if (asked || isSeen(path) || path === location.pathname + location.search) return;
  waiting.push(path);
  idle.values().next().value?.();
}
