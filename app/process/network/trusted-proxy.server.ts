import { BlockList, isIP } from "node:net";

/** A proxy that says who a person is, in this header (lowercase), and the addresses that it has. */
export type TrustedProxy = { header: string; addresses: string[] };

/** The addresses and networks in AUTH_PROXY, or undefined if one of them is invalid. */
export function readAddresses(said: string): string[] | undefined {
  const all = said
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);
  return all.length > 0 && all.every(isAddressOrNetwork) ? all : undefined;
}

/** Whether `BlockList` takes this text: `ipaddr.js` knows short forms, such as `127.1`, which `BlockList` does not. */
function isAddressOrNetwork(said: string): boolean {
  const [address = "", bits, ...more] = said.split("/");
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32));
}

/** An address as people know it: a socket that listens on IPv6 has IPv4 addresses in their mapped form. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "");

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
  const plain = plainAddress(address);
  return list.check(plain, isIP(plain) === 6 ? "ipv6" : "ipv4");
}
