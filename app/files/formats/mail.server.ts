import type { Address, Email } from "postal-mime";
import { plainText } from "../../process/text/decoding/plain.server.ts";
import { htmlText } from "./html.server.ts";
import { damaged } from "./unreadable.server.ts";

/** Content of an e-mail: its text with sender and receivers, and its attachments. */
export type ReadMail = { text: string; attachments: { name: string; mediaType: string; bytes: Buffer }[] };

/** Reads an e-mail as it is sent (RFC 5322, MIME). Text is taken from its plain part, or from the HTML where that says more. */
export async function readMail(bytes: Uint8Array): Promise<ReadMail> {
  const mail = await parseMail(Buffer.from(bytes)).catch(() => {
    throw damaged("un correo");
  });
  const head = [
    mail.subject && `# ${mail.subject}`,
    mail.from && `De: ${people([mail.from])}`,
    mail.to && `Para: ${people(mail.to)}`,
    mail.cc && `Copia: ${people(mail.cc)}`,
    mail.date && `Fecha: ${whenSent(mail)}`,
  ];
  const text = textOf(mail);
  return {
    text: `${head.filter(Boolean).join("\n")}\n\n${text}`,
    // Pictures, styles and fonts of the text itself are no documents.
    attachments: mail.attachments
      .filter(({ related, filename, mimeType }) => (!related && filename) || !isLook.test(mimeType))
      .map(({ filename, mimeType, content }, index) => ({
        name: filename ?? `adjunto ${index + 1}`,
        mediaType: mimeType,
        bytes: Buffer.from(content as ArrayBuffer),
      })),
  };
}

/** Senders or receivers; a group with its members. */
const people = (list: Address[] = []): string =>
  list
    .map(({ name, address, group }) =>
      [group ? `${name}: ${people(group)}` : name, address && `<${address}>`].filter(Boolean).join(" "),
    )
    .join(", ");

/**
 * The parts of an e-mail. Texts whose character set says nothing are read as UTF-8; those that are not UTF-8, whatever they say, as
 * Windows-1252. Throws for what is no e-mail.
 */
export async function parseMail(bytes: Buffer): Promise<Email> {
  const { default: PostalMime } = await import("postal-mime");
  const parse = (from: Buffer) => PostalMime.parse(withUtf8Head(from), { attachmentEncoding: "arraybuffer" });
  const mail = await parse(withCharset(bytes, vague, "utf-8"));
  if (!`${mail.text ?? ""}${mail.html ?? ""}`.includes("\ufffd")) return mail;
  const again = await parse(withCharset(bytes, vagueOrUtf8, "windows-1252"));
  const better = (first?: string, second?: string) =>
    first?.includes("\ufffd") && second && !isTwiceEncoded.test(second) ? second : first;
  const [text, html] = [better(mail.text, again.text), better(mail.html, again.html)];
  return { ...mail, ...(text && { text }), ...(html && { html }) };
}

// Character sets that programs name where they know none.
const vague =
  /charset[ \t]{0,4}=[ \t]{0,4}"?(?:us-ascii|ascii|x-unknown|unknown[\w-]{0,20}|utf8mb4|binary|default|none)"?/i;
const vagueOrUtf8 =
  /charset[ \t]{0,4}=[ \t]{0,4}"?(?:utf-?8|us-ascii|ascii|x-unknown|unknown[\w-]{0,20}|utf8mb4|binary|default|none)"?/i;
// UTF-8 that was read as Windows-1252.
const isTwiceEncoded = /[\u00c2\u00c3][\u0080-\u00bf]/;

/** Names a character set where a text names none, or one of those that `replaced` matches. */
function withCharset(bytes: Buffer, replaced: RegExp, set: string): Buffer {
  const raw = bytes.toString("latin1");
  const headEnd = raw.search(/\r?\n\r?\n/);
  // Without a type an e-mail is plain text.
  const typed = /^content-type:/im.test(raw.slice(0, headEnd)) ? raw : `Content-Type: text/plain\r\n${raw}`;
  const named = typed.replace(
    /^content-type:[ \t]{0,8}text\/(?:plain|html)\b[^\n]{0,300}(?:\n[ \t][^\n]{0,300}){0,5}/gim,
    (head) =>
      /charset/i.test(head)
        ? head.replace(replaced, `charset="${set}"`)
        : head.replace(/text\/(?:plain|html)/i, (type) => `${type}; charset="${set}"`),
  );
  return Buffer.from(named, "latin1");
}

// In characters: a plain part that is so much shorter than the page only says that there is one.
const stubAtMost = 300;
const rowsOfTable = 2;
// Shares of the words of a plain part that its page has: with all of them it says as much, with few the plain part is only a notice.
const nearlyAll = 0.95;
const half = 0.5;
const isNotice = /html|navegador|browser|cliente de correo|visuali[sz]|no (?:se )?(?:puede|admite)/i;

/** The text of an e-mail: its plain part, or its page where the plain part says nothing of it, or has its tables without their columns. */
export function textOf({ text = "", html = "" }: Pick<Email, "text" | "html">): string {
  const plain = text.trim().replace(forwardedHead, headInSpanish);
  const isShort = plain.length <= stubAtMost;
  if (!html || (!isShort && !/<t[dh]\b/i.test(html))) return plain;
  const page = htmlText(html);
  if (rowsIn(page) >= rowsOfTable && rowsIn(plain) === 0 && shareIn(page, plain) >= nearlyAll) return page;
  const isStub = page.length > 3 * plain.length + stubAtMost || (isNotice.test(plain) && shareIn(page, plain) < half);
  return isShort && isStub ? page : plain || page;
}

const rowsIn = (text: string): number => text.match(/^.*\S \| \S.*$/gm)?.length ?? 0;

/** Share of the words of a plain part that its page has too; 1 where there is no page. */
function shareIn(page: string, plain: string): number {
  const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]{2,40}/gu) ?? [];
  const all = new Set(wordsOf(page));
  const words = wordsOf(plain);
  return all.size === 0 || words.length === 0 ? 1 : words.filter((word) => all.has(word)).length / words.length;
}

// The head that the library writes before an e-mail within another.
const forwardedHead = /^-{20,40}\n((?:(?:From|Subject|Date|To|Cc|Bcc): {1,9}\S.{0,2000}\n){1,6})-{20,40}$/gm;
const labels: Record<string, string> = {
  ...{ From: "De", Subject: "Asunto", Date: "Fecha", To: "Para", Cc: "Copia", Bcc: "Copia oculta" },
};

const headInSpanish = (_all: string, head: string): string =>
  head
    .trimEnd()
    .replace(/^(\w+): +/gm, (_, label: string) => `${labels[label] ?? label}: `)
    .replace(/^(Fecha: )(\d{1,2})\/(\d{1,2})\/(?=\d{4})/m, "$1$3/$2/");

const isLook = /^(?:image|font)\/|css|javascript|octet-stream/i;

/** Turns the head of a mail into UTF-8: it may have raw letters of Windows, which the library would take for broken UTF-8. */
function withUtf8Head(bytes: Buffer): Buffer {
  const end = bytes.indexOf(bytes.includes("\r\n\r\n") ? "\r\n\r\n" : "\n\n");
  const head = bytes.subarray(0, end < 0 ? bytes.length : end);
  return Buffer.concat([Buffer.from(plainText(head)), bytes.subarray(head.length)]);
}

const moments = new Intl.DateTimeFormat("es", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });

/** The moment at which an e-mail was sent, by the clock of its sender. */
function whenSent({ date = "", headers }: Email): string {
  const at = Date.parse(date);
  if (Number.isNaN(at)) return date;
  const written = headers.find(({ key }) => key.toLowerCase() === "date")?.value ?? "";
  const [, sign = "+", hours = "0", minutes = "0"] = /([+-])(\d\d):?(\d\d)\b/.exec(written) ?? [];
  const ahead = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return moments.format(sign === "-" ? at - ahead : at + ahead);
}
