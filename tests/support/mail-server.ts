import { once } from "node:events";
import { SMTPServer } from "smtp-server";

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

/** A real SMTP server that keeps what it is sent; on a free port unless told. `refused`: senders, or receivers, with this code. */
export async function startMailServer(onPort = 0, refused: { from?: number; to?: number } = {}) {
  const refusal = (responseCode: number | undefined) =>
    responseCode === undefined ? null : Object.assign(new Error("refused"), { responseCode });
  const received: string[] = [];
  let told = () => {};
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onMailFrom: (_address, _session, done) => done(refusal(refused.from)),
    onRcptTo: (_address, _session, done) => done(refusal(refused.to)),
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        // Quoted-printable breaks long lines; what tests look for must not be broken.
        received.push(Buffer.concat(chunks).toString("utf8").replaceAll("=\r\n", "").replaceAll("=3D", "="));
        told();
        done();
      });
    },
  });
  server.listen(onPort, "127.0.0.1");
  await once(server.server, "listening");
  const { port } = server.server.address() as { port: number };
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    received,
    /** The first message to an address that was not yet read, or the next to come. */
    async nextTo(address: string): Promise<string> {
      for (;;) {
        const index = received.findIndex((message) => message.includes(`To: ${address}\r\n`));
        if (index >= 0) return received.splice(index, 1)[0] as string;
        await new Promise<void>((resolve) => {
          told = resolve;
        });
      }
    },
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
