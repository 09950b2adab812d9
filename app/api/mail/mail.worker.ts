import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseMail, textOf } from "../../files/formats/mail.server.ts";
import { answerJob } from "../../process/child-process-entry.ts";
import type { ReadAnswer, ReadJob } from "./read-message.server.ts";

answerJob(async ({ path, folder }: ReadJob): Promise<ReadAnswer> => {
  const bytes = readFileSync(path);
  const mail = await parseMail(bytes).catch(() => undefined);
  if (!mail) return { refused: true };
  // Pictures that stand in its HTML are mostly logos; signatures (S/MIME, PGP) are no documents.
  const sent = mail.attachments.filter(({ related, mimeType }) => !related && !/-signature$/i.test(mimeType));
  const attachments = sent.map(({ filename, content }, index) => {
    const file = Buffer.from(content as ArrayBuffer);
    const place = join(folder, String(index));
    writeFileSync(place, file);
    return { path: place, name: filename ?? `adjunto-${index + 1}`, size: file.length };
  });
  // A group in `From` has no address of its own: such an e-mail has no sender.
  const from = [mail.from].flatMap((one) => one?.address ?? []);
  return {
    headers: mail.headers.map(({ key, value }) => [key.toLowerCase(), value]),
    from,
    subject: mail.subject ?? "",
    text: textOf(mail),
    attachments,
  };
});
