import { limits } from "../process/limits.ts";

/** What a page's address asks to be searched for; empty: nothing. */
export const searchIn = (url: URL): string => url.searchParams.get("q")?.trim().slice(0, limits.search) ?? "";
