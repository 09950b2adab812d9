import { subscribe } from "node:diagnostics_channel";
import { BlockList, isIP, type Socket } from "node:net";

// Where the machines of hosting companies give away their credentials, and what else is reached on the link alone: no model
// is there. Private addresses are let through: many a model runs in the next room.
const forbidden = new BlockList();
forbidden.addSubnet("169.254.0.0", 16);
forbidden.addSubnet("fe80::", 10, "ipv6");
forbidden.addAddress("fd00:ec2::254", "ipv6");
forbidden.addAddress("fd20:ce::254", "ipv6");
forbidden.addAddress("100.100.100.200");
forbidden.addAddress("168.63.129.16");
forbidden.addAddress("192.0.0.192");
// The same ones, written as addresses of IPv6 that are carried over to IPv4; all others of these are anybody's.
for (const prefix of ["64:ff9b::", "::"]) forbidden.addSubnet(`${prefix}a9fe:0`, 112, "ipv6");
for (const address of ["64:ff9b::6464:64c8", "64:ff9b::a83f:8110", "64:ff9b::c000:c0"])
  forbidden.addAddress(address, "ipv6");
forbidden.addSubnet("2002:a9fe::", 32, "ipv6");
const names = /^(metadata|instance-data)(\.|$)|\.metadata\./i;

const isForbidden = (address: string) => forbidden.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");

/** Whether a model may not be at this address, as far as the address itself tells: in whatever spelling, the URL parser makes one of it. */
export function isForbiddenUrl(url: string): boolean {
  const parsed = URL.parse(url);
  // What is no address at all is refused for that.
  if (!parsed) return false;
  const host = parsed.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  return isIP(host) ? isForbidden(host) : names.test(host);
}

export class ForbiddenAddress extends Error {
  override name = "ForbiddenAddress";
}

/** From now on no `fetch` of this process says anything to such an address, whatever name has led there (Node, diagnostics channel of undici). */
export function guardConnections(): void {
  subscribe("undici:client:connected", (message) => {
    const { socket } = message as { socket: Socket };
    if (socket.remoteAddress && isForbidden(socket.remoteAddress)) socket.destroy(new ForbiddenAddress());
  });
}
