import { isIP } from "node:net";
import { expandIPv6 } from "hono/utils/ipaddr";

/** The key under which attempts are counted together: an IPv4 address, or the /64 that one IPv6 customer has. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6 || address.includes(".")) return address;
  return `${expandIPv6(address).split(":").slice(0, 4).join(":")}::/64`;
}
