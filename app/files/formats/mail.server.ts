import { htmlText } from "./html.server.ts";

/** Content of an e-mail: its text with sender and receivers, and its attachments. */
export type Mail = { text: string; attachments: { name: string; mediaType: string; bytes: Buffer }[] };

/** Reads an e-mail as it is sent (RFC 5322, MIME). Text is taken from its plain part, or from the HTML if there is none. */
export async function readMail(bytes: Uint8Array): Promise<Mail> {
  const { default: PostalMime } = await import("postal-mime");
  const mail = await PostalMime.parse(Buffer.from(bytes), { attachmentEncoding: "arraybuffer" });
  const people = (list: { name?: string; address?: string | undefined }[] = []) =>
    list.map(({ name, address }) => [name, address && `<${address}>`].filter(Boolean).join(" ")).join(", ");
  const head = [
    mail.subject && `# ${mail.subject}`,
    mail.from && `De: ${people([mail.from])}`,
    mail.to && `Para: ${people(mail.to)}`,
    mail.cc && `Copia: ${people(mail.cc)}`,
    mail.date && `Fecha: ${whenSent(mail.date)}`,
  ];
  const text = mail.text?.trim() || htmlText(mail.html ?? "");
  return {
    text: `${head.filter(Boolean).join("\n")}\n\n${text}`,
    attachments: mail.attachments.map(({ filename, mimeType, content }, index) => ({
      name: filename ?? `adjunto ${index + 1}`,
      mediaType: mimeType,
      bytes: Buffer.from(content as ArrayBuffer),
    })),
  };
}

const moments = new Intl.DateTimeFormat("es", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });

function whenSent(date: string): string {
  const at = new Date(date);
  return Number.isNaN(at.getTime()) ? date : moments.format(at);
}
