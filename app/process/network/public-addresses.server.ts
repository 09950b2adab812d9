import { lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { isForbidden } from "./addresses.server.ts";

/** A host that somebody has named is not on the public internet, or its name has no public address. */
export class AddressNotPublic extends Error {
  override name = "AddressNotPublic";
}

/** Whether an IP address is one of the public internet. An IPv6 address that stands for an IPv4 one is judged as that. */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address) || isForbidden(address)) return false;
  const given = ipaddr.parse(address);
  const range = given.range();
  if (given instanceof ipaddr.IPv6) {
    const bytes = given.toByteArray();
    if (range === "ipv4Mapped") return isPublic(given.toIPv4Address().toString());
    if (range === "rfc6052") return isPublic(new ipaddr.IPv4(bytes.slice(12)).toString());
    if (range === "6to4") return isPublic(new ipaddr.IPv4(bytes.slice(2, 6)).toString());
    // 2000::/3 is all of the public internet so far (RFC 4291, IANA's registry); every other range is reserved.
    if (((bytes[0] ?? 0) & 0xe0) !== 0x20) return false;
  }
  return range === "unicast";
}

/** Whether the host of a URL may be one of the public internet. `lookupPublic` checks the addresses of a name. */
export function isPublicHost({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (isIP(host)) return isPublic(host);
  return host.includes(".") && !/(^|\.)(localhost|local|internal|intranet|lan|home\.arpa)$/i.test(host);
}

/** Resolves a name to its public addresses only, so that no connection is made to another. Node never asks it about an IP address. */
export const lookupPublic: LookupFunction = (name, options, callback) => {
  lookup(name, { ...options, all: true }, (error, addresses) => {
    const open = error ? [] : addresses.filter(({ address }) => isPublic(address));
    const [first] = open;
    if (!first) callback(error ?? new AddressNotPublic(name), "", 0);
    else if (options.all) callback(null, open);
    else callback(null, first.address, first.family);
  });
};
