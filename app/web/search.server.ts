import { limits } from "../process/limits.ts";

/** The `q` of a page's address, trimmed and cut; empty without a search. */
export const searchIn = (url: URL): string => url.searchParams.get("q")?.trim().slice(0, limits.search) ?? "";
