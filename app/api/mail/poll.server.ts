import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JobRules } from "../../jobs/jobs.server.ts";
import { limits } from "../../process/limits.ts";
import type { Services } from "../env.server.ts";
import { takeMail } from "./take-mail.server.ts";

const every = 30_000;
// Most e-mails that one run takes, and most that it looks at: more, as those that wait or fail stay at the front.
const atOnce = 20;
const lookedAt = 200;
const timeout = 30_000;

/** How new e-mails are fetched: by one process, a few at a time. E-mails that were taken are marked as seen, and stay in their folder. */
export const fetchingMail = (services: Services, imap: string): JobRules => ({
  atOnce: 1,
  retries: [],
  every,
  work: ({ signal }) => fetchMail(services, imap, signal),
});

/** Fetches e-mails that nobody has seen. `imap`: `imaps://user:password@host:port/folder`. `signal`: the process ends. */
export async function fetchMail(services: Services, imap: string, signal: AbortSignal): Promise<void> {
  const { log } = services;
  const { hostname, port, protocol, username, password, pathname } = new URL(imap);
  // Loaded when first used: few installations read mail.
  const { ImapFlow } = await import("imapflow");
  const secure = protocol === "imaps:";
  const client = new ImapFlow({
    ...{ host: hostname, port: Number(port) || (secure ? 993 : 143), secure, logger: false },
    auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
    ...{ connectionTimeout: timeout, greetingTimeout: timeout, socketTimeout: timeout },
  });
  // Without a listener, a connection that breaks off between two commands would end the process.
  client.on("error", (error) => log.warn({ err: error }, "la conexión con el buzón se ha cortado"));
  await client.connect();
  const folder = await mkdtemp(join(tmpdir(), "tertulia-buzon-"));
  try {
    const lock = await client.getMailboxLock(decodeURIComponent(pathname.slice(1)) || "INBOX");
    try {
      const unseen = (await client.search({ seen: false, deleted: false }, { uid: true })) || [];
      let taken = 0;
      for (const uid of unseen.slice(0, lookedAt)) {
        if (signal.aborted || taken === atOnce) return;
        if (await takeOne(services, client, { uid, path: join(folder, String(uid)) })) taken++;
      }
    } finally {
      lock.release();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
    await client.logout().catch(() => client.close());
  }
}

type Client = import("imapflow").ImapFlow;

/** Whether an e-mail is dealt with; one that is not comes again at the next turn. */
async function takeOne(
  services: Services,
  client: Client,
  { uid, path }: { uid: number; path: string },
): Promise<boolean> {
  const { log } = services;
  const head = await client.fetchOne(String(uid), { size: true }, { uid: true });
  const seen = () => client.messageFlagsAdd(String(uid), ["\\Seen"], { uid: true });
  if (!head || (head.size ?? 0) > limits.incomingMail) {
    log.warn({ uid, bytes: head ? head.size : undefined }, "un correo recibido es demasiado grande, y se deja");
    await seen();
    return true;
  }
  const whole = await client.fetchOne(String(uid), { source: true }, { uid: true });
  const source = whole ? whole.source : undefined;
  if (!source) return false;
  await writeFile(path, source);
  try {
    if ((await takeMail(services, path)) === "later") return false;
    await seen();
    return true;
  } catch (error) {
    // A failed e-mail does not keep the others waiting.
    log.error({ err: error, uid }, "un correo recibido ha fallado");
    return false;
  }
}
