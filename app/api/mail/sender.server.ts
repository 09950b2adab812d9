import type { IncomingMail } from "./read-message.server.ts";

type Headers = IncomingMail["headers"];

export const headerIn = (headers: Headers, name: string): string =>
  headers.find(([key]) => key === name)?.[1]?.trim() ?? "";

/**
 * The sender's address of an e-mail, if the mail server in front has verified it (`Authentication-Results`, RFC 8601); undefined
 * otherwise. `trusts`: name of that server. It removes such headers of other servers, so that the first such header is its own.
 */
export function provenSender(
  { headers, from }: Pick<IncomingMail, "headers" | "from">,
  trusts: string,
): string | undefined {
  const address = from[0]?.trim().toLowerCase();
  // Exactly one address in one header: of two addresses, programs may show the first and check the second.
  if (from.length !== 1 || !address || headers.filter(([key]) => key === "from").length !== 1) return undefined;
  const domain = /^[^\s@]+@([^\s@]+)$/.exec(address)?.[1];
  const said = headers.find(([key]) => key === "authentication-results")?.[1];
  if (!domain || said === undefined) return undefined;
  const [server = "", ...results] = withoutComments(said)
    .split(";")
    .map((part) => part.trim());
  if (server.split(/\s/)[0]?.toLowerCase() !== trusts.toLowerCase()) return undefined;
  return results.some((result) => isAbout(result.toLowerCase(), domain)) ? address : undefined;
}

/** A header without its comments, which may hold anybody's text (RFC 5322, 3.2.2). */
function withoutComments(header: string): string {
  let depth = 0;
  let kept = "";
  for (const [letter] of header.matchAll(/\\.|[\s\S]/g)) {
    if (letter === "(") depth++;
    else if (letter === ")") depth = Math.max(0, depth - 1);
    else if (depth === 0) kept += letter;
  }
  return kept;
}

/** Parts of results that name a domain, by their method. */
const properties = new Map([
  ["dmarc", /(?:^|\s)header\.from\s*=\s*"?([^\s";]+)/],
  ["dkim", /(?:^|\s)header\.(?:d|i)\s*=\s*"?([^\s";]+)/],
  ["spf", /(?:^|\s)smtp\.mailfrom\s*=\s*"?([^\s";]+)/],
]);

/** Whether a result proves that an e-mail is from a domain: it names the domain itself or, for a DKIM signature, a parent domain. */
function isAbout(result: string, domain: string): boolean {
  const [, method = "", outcome] = /^(\w+)\s*=\s*(\w+)/.exec(result) ?? [];
  if (outcome !== "pass") return false;
  const [, named] = properties.get(method)?.exec(result) ?? [];
  if (!named) return false;
  const other = named.slice(named.lastIndexOf("@") + 1);
  return other === domain || (method === "dkim" && other.includes(".") && domain.endsWith(`.${other}`));
}

/** Whether a program has sent an e-mail: an answer could lead to an endless exchange (RFC 3834). */
export function isAutomatic(headers: Headers): boolean {
  const automatic = headerIn(headers, "auto-submitted").toLowerCase();
  return (
    (automatic !== "" && !automatic.startsWith("no")) ||
    /^(?:bulk|junk|list)$/i.test(headerIn(headers, "precedence")) ||
    headers.some(([key]) => key === "list-id") ||
    headerIn(headers, "return-path") === "<>"
  );
}
