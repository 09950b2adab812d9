import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server, Socket } from "node:net";

const ip = (...args: string[]) => execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"] });
// Taken from the addresses for documentation (RFC 5737), so that it is nobody's network.
const network = "198.51.100";
const bridge = "tertulia-br";
const name = (n: number) => `tertulia-${n}`;

/** Whether this machine can pretend to be several: some containers allow a namespace, but no cable to it. */
export function mayHaveHosts(): boolean {
  try {
    new Hosts(1).close();
    return true;
  } catch {
    return false;
  }
}

/**
 * Hosts as far as their network goes: each is a network namespace with a cable to this one's bridge, which can be pulled. Nothing is
 * told to anybody then: what is sent just does not arrive, as with a switch that has failed.
 */
export class Hosts {
  /** Address at which the hosts find this machine's loopback. */
  readonly here = `${network}.1`;
  readonly #forwards: { server: Server; sockets: Set<Socket> }[] = [];
  readonly #count: number;

  constructor(count: number) {
    this.#count = count;
    this.#clear();
    ip("link", "add", bridge, "type", "bridge");
    ip("addr", "add", `${this.here}/24`, "dev", bridge);
    ip("link", "set", bridge, "up");
    for (let n = 0; n < count; n++) {
      ip("netns", "add", name(n));
      ip("link", "add", name(n), "type", "veth", "peer", "name", "eth0", "netns", name(n));
      ip("link", "set", name(n), "master", bridge, "up");
      ip("-n", name(n), "addr", "add", `${this.address(n)}/24`, "dev", "eth0");
      ip("-n", name(n), "link", "set", "eth0", "up");
      ip("-n", name(n), "link", "set", "lo", "up");
    }
  }

  address(n: number): string {
    return `${network}.${n + 2}`;
  }

  /** Beginning of a command that is run on a host. */
  on(n: number): string[] {
    return ["ip", "netns", "exec", name(n)];
  }

  pullCable(n: number): void {
    ip("link", "set", name(n), "down");
  }

  plugIn(n: number): void {
    ip("link", "set", name(n), "up");
  }

  /** Has the hosts reach a port of this machine's loopback under the same number. */
  async forward(port: number): Promise<void> {
    const sockets = new Set<Socket>();
    const server = createServer((client) => {
      const inside = new Socket().connect(port, "127.0.0.1");
      for (const [socket, other] of [
        [client, inside],
        [inside, client],
      ] as const) {
        sockets.add(socket);
        socket.pipe(other);
        socket.on("error", () => other.destroy());
        socket.on("close", () => sockets.delete(socket));
      }
    });
    server.listen(port, this.here);
    await once(server, "listening");
    this.#forwards.push({ server, sockets });
  }

  close(): void {
    for (const { server, sockets } of this.#forwards) {
      for (const socket of sockets) socket.destroy();
      server.close();
    }
    this.#clear();
  }

  /** Also what a run before has left that was killed. */
  #clear(): void {
    for (const args of [
      ...Array.from({ length: this.#count }, (_, n) => ["netns", "del", name(n)]),
      ["link", "del", bridge],
    ]) {
      try {
        ip(...args);
      } catch {
        // It is not there.
      }
    }
  }
}
