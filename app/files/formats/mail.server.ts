import { htmlText } from "./html.server.ts";
import { plainText } from "./plain.server.ts";
import { damaged } from "./unreadable.server.ts";

/** Content of an e-mail: its text with sender and receivers, and its attachments. */
export type ReadMail = { text: string; attachments: { name: string; mediaType: string; bytes: Buffer }[] };

/** Reads an e-mail as it is sent (RFC 5322, MIME). Text is taken from its plain part, or from the HTML if there is none. */
export async function readMail(bytes: Uint8Array): Promise<ReadMail> {
  const { default: PostalMime } = await import("postal-mime");
  const mail = await PostalMime.parse(withUtf8Head(Buffer.from(bytes)), {
    attachmentEncoding: "arraybuffer",
  }).catch(() => {
    throw damaged("un correo");
  });
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

/** Turns the head of a mail into UTF-8: it may have raw letters of Windows, which the library would take for broken UTF-8. */
function withUtf8Head(bytes: Buffer): Buffer {
  const end = bytes.indexOf(bytes.includes("\r\n\r\n") ? "\r\n\r\n" : "\n\n");
  const head = bytes.subarray(0, end < 0 ? bytes.length : end);
  return Buffer.concat([Buffer.from(plainText(head)), bytes.subarray(head.length)]);
}

const moments = new Intl.DateTimeFormat("es", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });

function whenSent(date: string): string {
  const at = new Date(date);
  return Number.isNaN(at.getTime()) ? date : moments.format(at);
}
