import type { Transporter } from "nodemailer";
import type { Config } from "../config.server.ts";

/** Name that the sender has, and text below the message. */
export type Letterhead = { name: string; foot: string };
export type Message = {
  to: string;
  subject: string;
  text: string;
  replyTo?: { name: string; address: string };
  /** Its own Message-ID, and the Message-IDs by which programs put it into a thread. */
  messageId?: string;
  inReplyTo?: string;
  references?: string;
  /** Whether it is an automatic answer, which no program is to answer in turn (RFC 3834). */
  isAutomatic?: boolean;
};

/** Sends e-mail over SMTP_URL, where that is set. */
export class Mail {
  readonly #transport: Transporter | undefined;
  readonly #from: string;
  /** Address that gets the forms' messages. */
  readonly inbox: string | undefined;

  private constructor(transport: Transporter | undefined, { mailTo, mailFrom }: Config["mail"]) {
    this.#transport = transport;
    this.inbox = transport ? mailTo : undefined;
    this.#from = mailFrom ?? mailTo ?? "";
  }

  static async open(config: Config["mail"]): Promise<Mail> {
    if (!config.smtpUrl) return new Mail(undefined, config);
    // Loaded only when mail is configured, to save its memory otherwise.
    const { createTransport } = await import("nodemailer");
    const transport = createTransport({ url: config.smtpUrl, connectionTimeout: 10_000, socketTimeout: 20_000 });
    return new Mail(transport, config);
  }

  get available(): boolean {
    return this.#transport !== undefined;
  }

  /** Resolves once the mail server has taken the message; rejects with the server's answer (`responseCode`). Only if `available`. */
  async send({ text, isAutomatic, ...message }: Message, { name, foot }: Letterhead): Promise<void> {
    const from = { name, address: this.#from };
    // The line before the signature (RFC 3676, 4.3).
    const signed = `${text.trimEnd()}\n\n-- \n${foot || name}\n`;
    const headers = isAutomatic && { headers: { "Auto-Submitted": "auto-replied" } };
    await this.#transport?.sendMail({ from, ...message, text: signed, ...headers });
  }

  close(): void {
    this.#transport?.close();
  }
}
