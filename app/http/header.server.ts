/** A header of a request or response; empty where there is none. */
export const headerOf = ({ headers }: { headers: Headers }, name: string): string => headers.get(name) ?? "";
