import { BlockList, isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** A proxy that says who a person is, in this header (lowercase), and the addresses that it has. */
export type TrustedProxy = { header: string; addresses: string[] };

/** The addresses and networks in AUTH_PROXY, or undefined if one is none. */
export function readAddresses(said: string): string[] | undefined {
  const all = said
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);
  return all.length > 0 && all.every((one) => ipaddr.isValid(one) || ipaddr.isValidCIDR(one)) ? all : undefined;
}

const lists = new WeakMap<TrustedProxy, BlockList>();

/** Whether a connection comes from the proxy itself. `address`: the other end of the socket, whatever headers say. */
export function isFromProxy(proxy: TrustedProxy, address: string | undefined): boolean {
  if (!address || isIP(address) === 0) return false;
  let list = lists.get(proxy);
  if (!list) {
    list = new BlockList();
    for (const one of proxy.addresses) {
      const [network = one, bits] = one.split("/");
      const family = isIP(network) === 6 ? "ipv6" : "ipv4";
      if (bits === undefined) list.addAddress(network, family);
      else list.addSubnet(network, Number(bits), family);
    }
    lists.set(proxy, list);
  }
  // A socket that listens on IPv6 has IPv4 addresses in their mapped form.
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  return list.check(plain, isIP(plain) === 6 ? "ipv6" : "ipv4");
}
