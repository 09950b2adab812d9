import { connect, type Socket } from "node:net";

/** A client's bytes to the server, and the answer: for requests that no library would send. */
export class Raw {
  readonly socket: Socket;
  received = "";
  /** When the server closed the connection, in ms since it was opened. */
  readonly closed: Promise<number>;

  constructor(base: string, text: string) {
    const begun = Date.now();
    const { hostname, port } = new URL(base);
    this.socket = connect(Number(port), hostname, () => this.socket.write(text));
    this.socket.on("data", (data) => {
      this.received += data;
    });
    // A reset is a way of closing.
    this.socket.on("error", () => {});
    this.closed = new Promise((resolve) => this.socket.once("close", () => resolve(Date.now() - begun)));
  }

  /** The status of the answer, once there is one. */
  async status(): Promise<number> {
    while (!/^HTTP\/1\.1 \d+/.test(this.received)) {
      await new Promise((resolve) => this.socket.once("data", resolve));
    }
    return Number(this.received.slice(9, 12));
  }

  end(): void {
    this.socket.destroy();
  }
}
