/** A header of a request or response; empty where there is none. */
export const headerOf = ({ headers }: { headers: Headers }, name: string): string => headers.get(name) ?? "";

/** The bearer token of a request; empty where there is none. */
export const bearerOf = (request: { headers: Headers }): string =>
  /^Bearer (\S+)$/i.exec(headerOf(request, "Authorization"))?.[1] ?? "";
