import { recordOf } from "../../process/text/json.ts";
import type { Facts } from "./enter.server.ts";

type Claims = Record<string, unknown>;

// PostgreSQL stores no NUL, and no name has one.
const isText = (value: unknown): value is string => typeof value === "string" && !value.includes("\0");
const textClaim = (value: unknown): string | null => (isText(value) && value.trim() ? value.trim() : null);

/** Facts about a person from a provider's claims; `groupsClaim` may lead into objects, as `realm_access.roles`. */
export function factsIn(claims: Claims, groupsClaim: string): Omit<Facts, "subject" | "providerSession" | "idToken"> {
  const verified = claims.email_verified;
  const names = [
    claims.name,
    [claims.given_name, claims.family_name].filter(textClaim).join(" "),
    claims.preferred_username,
  ];
  return {
    // Azure AD B2C sends a list.
    email: textClaim([claims.email ?? claims.emails].flat()[0]),
    // Some providers send this claim as a text or a number.
    emailVerified: verified === undefined || verified === null ? null : /^(?:true|1)$/i.test(String(verified)),
    name: names.map(textClaim).find(Boolean) ?? "",
    groups: leavesOutGroups(claims, groupsClaim) ? null : groupsIn(claims, groupsClaim),
  };
}

/** The name with which somebody signs in at Active Directory (AD FS, Entra), which looks like an address; null if it is missing. */
export const upnIn = ({ upn }: Claims): string | null => textClaim(upn);

/** The name with which somebody signs in at Entra; null if it is missing. */
export const addressIn = (claims: Claims): string | null => upnIn(claims) ?? textClaim(claims.preferred_username);

/** Whether a token is without its groups because they are too many for it (Microsoft Entra, «groups overage claim»). */
function leavesOutGroups(claims: Claims, claim: string): boolean {
  if (!claim || claims[claim] !== undefined) return false;
  return (
    recordOf(claims._claim_names)?.[claim] !== undefined || claims.hasgroups === true || claims.hasgroups === "true"
  );
}

/**
 * The names in a claim: a list, or a text with commas or semicolons between them; of objects, their `name`; of a map, as Zitadel's, its keys.
 * The claim's own name may lead into objects and contain dots, or be a URL.
 */
export function groupsIn(claims: Claims, claim: string): string[] {
  const value = claim ? valueAt(claims, claim.split(".")) : undefined;
  const map = recordOf(value);
  const listed = map ? Object.keys(map) : Array.isArray(value) ? value.map(nameOf) : namesIn(value);
  return [...new Set(listed.filter((one): one is string => isText(one) && one !== ""))];
}

/** The name of a group in a list. It is never split: whoever may name a group could name it «x,administradores». */
function nameOf(given: unknown): unknown {
  const { name, displayName, id } = recordOf(given) ?? {};
  const said = name ?? displayName ?? id ?? given;
  return typeof said === "number" ? String(said) : said;
}

/** A single text as one name, and as several: a comma may also be a part of the name. */
const namesIn = (value: unknown): string[] =>
  typeof value === "string" ? [value, ...value.split(/[,;]/).map((part) => part.trim())] : [];

/** The value at a path, some of whose keys may have dots themselves. */
function valueAt(object: unknown, path: string[]): unknown {
  const fields = recordOf(object);
  if (path.length === 0 || !fields) return path.length === 0 ? object : undefined;
  for (let length = path.length; length > 0; length--) {
    const key = path.slice(0, length).join(".");
    const found = Object.hasOwn(fields, key) ? valueAt(fields[key], path.slice(length)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
