import { decoded, encodingOf } from "../../../../process/text/decoding/encodings.server.ts";
import { declaredText } from "../../../../process/text/decoding/plain.server.ts";
import { htmlText } from "../../html.server.ts";
import type { ReadMail } from "../../mail.server.ts";
import { damaged } from "../../unreadable.server.ts";
import { type CompoundFile, openCompoundFile } from "./compound-file.server.ts";

// Properties of an e-mail (MS-OXPROPS), by their numbers.
const subject = "0037";
const senderName = "0C1A";
const senderAddress = ["5D01", "5D02", "0C1F"];
const receivers = "0E04";
const copies = "0E03";
const body = "1000";
const page = "1013";
const fileNames = ["3707", "3704", "3001"];
const content = "3701";
const mediaType = "370E";
const contentId = "3712";
// Of properties that have a fixed length: when the e-mail was sent and received, and the code page of its texts.
const moments = [0x0039, 0x0e06];
const codePages = [0x3ffd, 0x3fde];

const attachmentsAtMost = 200;
// An entry of a fixed property: its type and number, flags, and eight bytes of value (MS-OXMSG, 2.4).
const entrySize = 16;
const headSize = 32;
// Milliseconds between 1601 and 1970, from which Windows and Unix count.
const epoch = 11_644_473_600_000;

const written = new Intl.DateTimeFormat("es", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });

/** An e-mail that Outlook has saved (MS-OXMSG): its text with sender and receivers, and its attachments. Throws Unreadable. */
export async function readOutlookMail(bytes: Buffer): Promise<ReadMail> {
  const file = await openCompoundFile(bytes).catch(() => {
    throw damaged("un correo de Outlook");
  });
  return mailIn(file, "");
}

/** The e-mail whose parts stand in a folder of the file. */
function mailIn(file: CompoundFile, folder: string): ReadMail {
  const fixed = fixedProperties(file.get(`${folder}__properties_version1.0`) ?? Buffer.alloc(0));
  const page850 = codePages.map((number) => fixed.get(number)?.readUInt32LE(0)).find(Boolean);
  const encoding = page850 && page850 !== 65_001 ? encodingOf(String(page850)) : "utf-8";
  const textOf = (number: string) => {
    const wide = file.get(`${folder}__substg1.0_${number}001F`);
    if (wide) return wide.toString("utf16le").replaceAll("\0", "").trim();
    const narrow = file.get(`${folder}__substg1.0_${number}001E`);
    return narrow ? decoded(narrow, encoding).replaceAll("\0", "").trim() : "";
  };
  const html = file.get(`${folder}__substg1.0_${page}0102`);
  const from = [textOf(senderName), senderAddress.map(textOf).find((address) => address.includes("@"))];
  const sent = moments.map((number) => fixed.get(number)).find(Boolean);
  const head = [
    textOf(subject) && `# ${textOf(subject)}`,
    from[0] && `De: ${from[0]}${from[1] && from[1] !== from[0] ? ` <${from[1]}>` : ""}`,
    textOf(receivers) && `Para: ${textOf(receivers)}`,
    textOf(copies) && `Copia: ${textOf(copies)}`,
    sent && `Fecha: ${written.format(Number(sent.readBigUInt64LE(0) / 10_000n) - epoch)} (hora universal)`,
  ];
  const said = textOf(body) || htmlText(textOf(page) || (html ? declaredText(html) : ""));
  return {
    text: `${head.filter(Boolean).join("\n")}\n\n${said.replace(/\r\n?/g, "\n")}`,
    attachments: attachmentsIn(file, folder),
  };
}

function attachmentsIn(file: CompoundFile, folder: string): ReadMail["attachments"] {
  const folders = new Set(
    [...file.keys()].flatMap((path) => {
      const [found] = path.startsWith(folder)
        ? (/^__attach_version1\.0_#[^/]+\//.exec(path.slice(folder.length)) ?? [])
        : [];
      return found ? [`${folder}${found}`] : [];
    }),
  );
  return [...folders].slice(0, attachmentsAtMost).flatMap((place, index) => {
    const textOf = (number: string) =>
      file.get(`${place}__substg1.0_${number}001F`)?.toString("utf16le").replaceAll("\0", "") ??
      file.get(`${place}__substg1.0_${number}001E`)?.toString("latin1").replaceAll("\0", "") ??
      "";
    const name = fileNames.map(textOf).find(Boolean) ?? `adjunto ${index + 1}`;
    const type = textOf(mediaType).toLowerCase();
    // Pictures of the text itself are no documents.
    if (type.startsWith("image/") && textOf(contentId)) return [];
    const bytes = file.get(`${place}__substg1.0_${content}0102`);
    if (bytes) return [{ name, mediaType: type, bytes }];
    const inner = `${place}__substg1.0_${content}000D/`;
    if (!file.has(`${inner}__properties_version1.0`)) return [];
    return [{ name, mediaType: "text/plain", bytes: Buffer.from(mailIn(file, inner).text) }];
  });
}

/** Properties of fixed length by their numbers. The head is shorter in e-mails within others, so that entries are told by their types. */
function fixedProperties(bytes: Buffer): Map<number, Buffer> {
  const found = new Map<number, Buffer>();
  for (
    let at = bytes.length % entrySize === 0 ? headSize : headSize - 8;
    at + entrySize <= bytes.length;
    at += entrySize
  )
    found.set(bytes.readUInt16LE(at + 2), bytes.subarray(at + 8, at + entrySize));
  return found;
}
