import { limits } from "../process/limits.ts";

/** Search of a page's address; empty: none. */
export const searchIn = (url: URL): string => url.searchParams.get("q")?.trim().slice(0, limits.search) ?? "";
