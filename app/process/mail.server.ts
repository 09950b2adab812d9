import type { Transporter } from "nodemailer";
import type { Config } from "./config.server.ts";
import type { Log } from "./log.server.ts";

export type Message = { to: string; subject: string; text: string; replyTo?: { name: string; address: string } };

/** Sends e-mail over SMTP_URL, where that is set. */
export class Mail {
  readonly #transport: Transporter | undefined;
  readonly #from: string;
  readonly #log: Log;
  readonly #underway = new Set<Promise<void>>();
  /** Where the forms' messages go. */
  readonly inbox: string | undefined;

  private constructor(transport: Transporter | undefined, { mailTo, mailFrom }: Config["mail"], log: Log) {
    this.#transport = transport;
    this.inbox = transport ? mailTo : undefined;
    this.#from = mailFrom ?? mailTo ?? "";
    this.#log = log;
  }

  static async open(config: Config["mail"], log: Log): Promise<Mail> {
    if (!config.smtpUrl) return new Mail(undefined, config, log);
    // Loaded only when mail is configured, to save its memory otherwise.
    const { createTransport } = await import("nodemailer");
    const transport = createTransport({ url: config.smtpUrl, connectionTimeout: 10_000, socketTimeout: 20_000 });
    return new Mail(transport, config, log);
  }

  get available(): boolean {
    return this.#transport !== undefined;
  }

  /**
   * Sends in the background: nobody waits for it, and the time of a response does not tell whether mail was sent. Calls
   * `onSent` after success. Does nothing without SMTP_URL.
   */
  post(message: Message, onSent: () => Promise<unknown> = async () => {}): void {
    if (!this.#transport) return;
    const sending = this.#send(message)
      .then(onSent)
      .catch((error: Error) => this.#log.error({ err: error }, "no se pudo enviar un correo"))
      .then(() => {});
    this.#underway.add(sending);
    void sending.finally(() => this.#underway.delete(sending));
  }

  /** Waits for what is being sent. */
  async close(): Promise<void> {
    await Promise.all(this.#underway);
    this.#transport?.close();
  }

  async #send({ to, subject, text, replyTo }: Message): Promise<void> {
    await this.#transport?.sendMail({ from: this.#from, to, subject, text, ...(replyTo && { replyTo }) });
  }
}
