import { releaseNotices } from "../../db/reply-notices.server.ts";
import type { MessageRow } from "../../db/tables.ts";
import type { JobAtWork, JobRules } from "../../jobs/jobs.server.ts";
import { listOf, parseJson, recordOf, storedJson } from "../../process/text/json.ts";
import type { Services } from "../env.server.ts";
import { idOfReply } from "./thread.server.ts";

/** The e-mail that is answered: its sender, and the headers that keep a thread together. */
export type Thread = { to: string; subject: string; inReplyTo: string; references: string };

const minute = 60_000;
const day = 24 * 60 * minute;

type Answer = { replyId: string; userId: string; thread: Thread; refused: string[] };
type Noticing = Pick<Services, "db" | "clock" | "jobs">;

/** Has a reply sent by e-mail once it has ended. `refused`: sentences about files that could not be read. */
export async function addMailAnswer(
  { db, clock, jobs }: Noticing,
  { replyId, userId, thread, refused }: Answer,
): Promise<void> {
  const data = JSON.stringify({ thread, refused });
  // The end of the reply makes this job due at once (`db/reply-notices.server.ts`).
  await jobs.add({ kind: "mail-answer", subjectId: replyId, userId, data, dueAt: clock.now() + minute });
  // The reply may have ended before the job was stored.
  const reply = await db.selectFrom("messages").where("id", "=", replyId).select("status").executeTakeFirst();
  if (reply?.status === "streaming") return;
  await db.transaction().execute((trx) => releaseNotices(trx, replyId));
  jobs.wake("mail-answer");
}

/** Tells the sender of an e-mail why the question is not asked. */
export async function refuseByMail({ mail, config, clock }: Services, thread: Thread, sentence: string): Promise<void> {
  const text = `Hola:\n\nTu pregunta no se ha podido hacer. ${sentence}\n\n${config.publicUrl}/conversation/chat\n`;
  mail.post(mailOf(thread, text, config.mailIn?.address ?? ""), { goodUntil: clock.now() + day });
}

type Sending = Pick<Services, "db" | "clock" | "mail" | "config" | "jobs" | "tokenKey">;

/** How replies to questions by e-mail are sent. */
export const mailAnswering = (services: Sending): JobRules => ({
  atOnce: 2,
  retries: [minute, 5 * minute],
  work: (job) => answer(services, job),
});

async function answer(services: Sending, { subjectId, userId, data }: JobAtWork): Promise<void> {
  const { db, clock, mail, config, jobs } = services;
  const reply = await db.selectFrom("messages").where("id", "=", subjectId).selectAll().executeTakeFirst();
  // The reply was deleted meanwhile, or e-mail is no longer received.
  if (!reply || !config.mailIn || !config.publicUrl) return;
  const again = (dueAt: number) => jobs.add({ kind: "mail-answer", subjectId, userId, data, dueAt });
  if (reply.status === "streaming") return void (await again(clock.now() + minute));
  const { thread, refused } = storedJson<Pick<Answer, "thread" | "refused">>(data);
  const { address } = config.mailIn;
  const page = `${config.publicUrl}/conversation/chat/${reply.chatId}`;
  const messageId = idOfReply(services, reply.id, address);
  if (reply.status === "waiting") {
    // The end of the reply comes later, in another e-mail.
    await again(clock.now() + 30 * day);
    const asks = `Antes de contestar hay que permitir lo que quiere hacer una herramienta. Se decide aquí, con la sesión iniciada:\n\n${page}\n`;
    return mail.post(mailOf(thread, `Hola:\n\n${asks}`, address), { goodUntil: clock.now() + day });
  }
  const said = [wordsOf(reply), ...refused.map((one) => `No se ha podido leer un archivo: ${one}`)].join("\n\n");
  const text = `${said}\n\n${config.aiNotice}\nSigue aquí, o contesta a este correo: ${page}\n`;
  mail.post({ ...mailOf(thread, text, address), messageId }, { goodUntil: clock.now() + day });
}

/** A reply as the text of an e-mail, with its sources. */
function wordsOf({ content, status, error, sources }: MessageRow): string {
  const list = listOf(parseJson(sources ?? "[]")).flatMap((one) => {
    const { n, title, url } = recordOf(one) ?? {};
    return typeof title === "string" ? `[${n}] ${title}${typeof url === "string" ? ` ${url}` : ""}` : [];
  });
  const cited = list.filter((line) => content.includes(line.slice(0, line.indexOf("]") + 1)));
  const cut = status === "complete" ? error : (error ?? "La respuesta se ha quedado a medias.");
  return [content || "No hay respuesta.", cited.join("\n"), cut].filter(Boolean).join("\n\n");
}

const mailOf = ({ to, subject, inReplyTo, references }: Thread, text: string, address: string) => ({
  ...{ to, subject, text, inReplyTo, references, isAutomatic: true },
  replyTo: { name: "", address },
});
