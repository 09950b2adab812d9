import { v7 as newId } from "uuid";
import type { Db } from "../db/engine.server.ts";
import { readHouse } from "../db/house.server.ts";
import { encrypt, tryDecrypt } from "../process/crypto.server.ts";
import type { Log } from "../process/log.server.ts";
import type { Mail, Message } from "../process/network/mail.server.ts";
import { storedJson } from "../process/text/json.ts";
import { JobDelayed, JobFailed, type Jobs } from "./jobs.server.ts";

const minute = 60_000;
const retries = [1, 5, 15, 60, 240, 720].map((minutes) => minutes * minute);
const atOnce = 4;

/** Options of an e-mail beside its message. `emailId`: the message of a form that it forwards; `goodUntil`: epoch ms. */
type About = { emailId?: string; goodUntil?: number };

/** E-mails on their way: kept until the mail server has taken them, also over a restart. */
export class Outbox {
  readonly #db: Db;
  readonly #jobs: Jobs;
  readonly #mail: Mail;
  readonly #key: Buffer;
  readonly #log: Log;

  /** `mailKey` encrypts waiting e-mails: they hold links that open accounts. */
  constructor({ db, jobs, mail, mailKey, log }: { db: Db; jobs: Jobs; mail: Mail; mailKey: Buffer; log: Log }) {
    this.#db = db;
    this.#jobs = jobs;
    this.#mail = mail;
    this.#key = mailKey;
    this.#log = log;
    // Without a mail server no e-mail is added, and e-mails that were waiting go on waiting for a server.
    if (mail.available) jobs.handle("email", { atOnce, retries, work: (job) => this.#send(job) });
  }

  get available(): boolean {
    return this.#mail.available;
  }

  /** Address that gets the forms' messages. */
  get inbox(): string | undefined {
    return this.#mail.inbox;
  }

  /**
   * Sends in the background: nobody waits for it, and the time of a response does not tell whether mail was sent. Does nothing
   * without SMTP_URL.
   */
  post(message: Message, { emailId, goodUntil }: About = {}): void {
    if (!this.available) return;
    const id = newId();
    const data = JSON.stringify({ sealed: encrypt(JSON.stringify(message), this.#key, id) });
    this.#jobs
      .add({ id, kind: "email", data, ...(emailId && { subjectId: emailId }), ...(goodUntil && { goodUntil }) })
      .then(() => this.#jobs.wake("email"))
      .catch((error) => this.#log.error({ err: error }, "no se pudo enviar un correo"));
  }

  async #send({ id, subjectId, data }: { id: string; subjectId: string | null; data: string }): Promise<void> {
    const { sealed } = storedJson<{ sealed: string }>(data);
    const message = tryDecrypt(sealed, this.#key, id);
    if (message === undefined) throw new JobFailed("se guardó con otro secreto del servidor.");
    const { name, mailName, mailFoot } = await readHouse(this.#db);
    const letterhead = { name: mailName ?? name, foot: mailFoot };
    await this.#mail.send(storedJson<Message>(message), letterhead).catch(refused);
    if (!subjectId) return;
    await this.#db.updateTable("emails").set({ sentAt: Date.now() }).where("id", "=", subjectId).execute();
  }
}

/**
 * A reply of the 5xx kind is final (RFC 5321, 4.2.1) if it is about the receiver or the message; one about the house's own account or
 * address waits for an operator to mend it.
 */
function refused(error: Error & { responseCode?: number; code?: string; command?: string }): never {
  const { responseCode = 0, code, command = "" } = error;
  if (code === "EAUTH") {
    const sentence = `el servidor de correo no acepta el usuario o la clave de SMTP_URL (${responseCode}).`;
    throw new JobDelayed(sentence, { cause: error });
  }
  if (responseCode < 500) throw error;
  if (/^(?:RCPT|DATA)/.test(command) || code === "EMESSAGE") {
    throw new JobFailed(`el servidor de correo no lo acepta (${responseCode}).`, { cause: error });
  }
  const sentence = `el servidor de correo no acepta lo que envía esta casa (${responseCode}): mira SMTP_URL y MAIL_FROM.`;
  throw new JobDelayed(sentence, { cause: error });
}
