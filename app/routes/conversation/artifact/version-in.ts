/** The version that an address asks for, as a query of the API; an empty query asks for the last version. */
export function versionIn(url: URL): { version?: string } {
  const [version] = /^[1-9]\d{0,6}$/.exec(url.searchParams.get("version") ?? "") ?? [];
  return version ? { version } : {};
}
