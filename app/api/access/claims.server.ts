import { recordOf } from "../../process/text/json.ts";
import type { Facts } from "./enter.server.ts";

type Claims = Record<string, unknown>;

// PostgreSQL stores no NUL, and no name has one.
const isText = (value: unknown): value is string => typeof value === "string" && !value.includes("\0");
const said = (value: unknown): string | null => (isText(value) && value.trim() ? value.trim() : null);

/** Facts about a person from a provider's claims; `groupsClaim` may lead into objects, as `realm_access.roles`. */
export function factsIn(claims: Claims, groupsClaim: string): Omit<Facts, "subject" | "providerSession" | "idToken"> {
  const verified = claims.email_verified;
  const names = [
    claims.name,
    [claims.given_name, claims.family_name].filter(said).join(" "),
    claims.preferred_username,
  ];
  return {
    email: said(claims.email),
    // Some providers send this claim as a text or a number.
    emailVerified: verified === undefined || verified === null ? null : /^(?:true|1)$/i.test(String(verified)),
    name: names.map(said).find(Boolean) ?? "",
    groups: leavesOutGroups(claims, groupsClaim) ? null : groupsIn(claims, groupsClaim),
  };
}

/** The name with which somebody signs in at Entra; null if it is missing. */
export const addressIn = ({ upn, preferred_username }: Claims): string | null => said(upn) ?? said(preferred_username);

/** Whether a token is without its groups because they are too many for it (Microsoft Entra, «groups overage claim»). */
function leavesOutGroups(claims: Claims, claim: string): boolean {
  if (!claim || claims[claim] !== undefined) return false;
  return (
    recordOf(claims._claim_names)?.[claim] !== undefined || claims.hasgroups === true || claims.hasgroups === "true"
  );
}

/** The names in a claim, which holds a list or a single name. The claim's own name may contain dots, or be a URL. */
export function groupsIn(claims: Claims, claim: string): string[] {
  if (!claim) return [];
  const inside = claim.split(".").reduce<unknown>((object, key) => (Object(object) as Claims)[key], claims);
  const value = Object.hasOwn(claims, claim) ? claims[claim] : inside;
  return [value].flat().filter((one): one is string => isText(one) && one !== "");
}
