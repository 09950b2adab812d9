import { subscribe } from "node:diagnostics_channel";
import type { Agent } from "node:http";
import { BlockList, isIP, Socket } from "node:net";

// Addresses of cloud metadata services, which hand out credentials: all link-local ones, and some others. Private networks
// are allowed, because many models run on a machine nearby.
const forbidden = new BlockList();
forbidden.addSubnet("169.254.0.0", 16);
forbidden.addSubnet("fe80::", 10, "ipv6");
forbidden.addAddress("fd00:ec2::254", "ipv6");
forbidden.addAddress("fd20:ce::254", "ipv6");
forbidden.addAddress("100.100.100.200");
forbidden.addAddress("168.63.129.16");
forbidden.addAddress("192.0.0.192");
// The same addresses in IPv6 notations that translate to IPv4.
for (const prefix of ["64:ff9b::", "::"]) forbidden.addSubnet(`${prefix}a9fe:0`, 112, "ipv6");
for (const address of ["64:ff9b::6464:64c8", "64:ff9b::a83f:8110", "64:ff9b::c000:c0"])
  forbidden.addAddress(address, "ipv6");
forbidden.addSubnet("2002:a9fe::", 32, "ipv6");
// The local-use translation prefix, whose meaning depends on the network (RFC 8215).
forbidden.addSubnet("64:ff9b:1::", 48, "ipv6");
const names = /^(metadata|instance-data)(\.|$)|\.metadata\./i;

/** Whether an IP address is one of a metadata service. */
export const isForbidden = (address: string) => forbidden.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");

/**
 * Whether a URL's host is a forbidden address, in any notation (the URL parser normalises it), or the name of a metadata
 * service. Names are not resolved here: `guardConnections` checks what they resolve to.
 */
export function isForbiddenUrl(url: string): boolean {
  const parsed = URL.parse(url);
  // Invalid addresses are refused elsewhere.
  if (!parsed) return false;
  const host = parsed.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  return isIP(host) ? isForbidden(host) : names.test(host);
}

export class ForbiddenAddress extends Error {
  override name = "ForbiddenAddress";
}

/**
 * From now on, every connection of `fetch` to a forbidden address is closed before a request is sent, whatever name was resolved to it
 * (undici's diagnostics channel). Requests of Node's own HTTP take a `guarded` agent.
 */
export function guardConnections(): void {
  subscribe("undici:client:connected", (message) => refuseForbidden((message as { socket: Socket }).socket));
}

/** An agent of Node's own HTTP that also closes its connections to forbidden addresses. */
export function guarded<Kind extends Agent>(agent: Kind): Kind {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const socket = connect(options, callback);
    if (socket instanceof Socket) socket.once("connect", () => refuseForbidden(socket));
    return socket;
  };
  return agent;
}

function refuseForbidden(socket: Socket): void {
  if (socket.remoteAddress && isForbidden(socket.remoteAddress)) socket.destroy(new ForbiddenAddress());
}
