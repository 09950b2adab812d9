import { createHash } from "node:crypto";
import type { Db } from "../../db/engine.server.ts";
import { FileRefused } from "../../files/refused.server.ts";
import { limits } from "../../process/limits.ts";
import { Busy, CannotReply } from "../../replies/cannot-reply.server.ts";
import { LimitReached } from "../../replies/usage.server.ts";
import { start } from "../chats/conversation.server.ts";
import { cleanConversationText } from "../chats/conversation-text.server.ts";
import type { Person, Services } from "../env.server.ts";
import { findPerson } from "../http/authentication.server.ts";
import { Problem } from "../http/problem.server.ts";
import { mayTry } from "../http/rate-limit.server.ts";
import { addMailAnswer, refuseByMail, type Thread } from "./answer.server.ts";
import { newWords, ownWords } from "./own-words.server.ts";
import { type Attachment, type IncomingMail, withMessage } from "./read-message.server.ts";
import { headerIn, isAutomatic, provenSender } from "./sender.server.ts";
import { answeredReply } from "./thread.server.ts";

/** `later`: the e-mail is not taken yet, and has to be delivered again. `dropped`: the e-mail never gets an answer. */
export type Taken = "taken" | "later" | "dropped";

// In ms: most documents are read by then.
const patience = 20_000;

/** Takes an e-mail on disk as a question of its sender; an e-mail that is delivered again is the same question. */
export async function takeMail(services: Services, path: string): Promise<Taken> {
  const taken = await withMessage(path, (mail) => takeMessage(services, mail));
  if (taken === undefined) services.log.warn("un correo recibido no se puede leer, y se deja");
  return taken ?? "dropped";
}

async function takeMessage(services: Services, mail: IncomingMail): Promise<Taken> {
  const { log, config } = services;
  const drop = (why: string): Taken => {
    log.info({ why, from: mail.from[0]?.replace(/^.*@/, "…@") }, "un correo recibido se deja sin contestar");
    return "dropped";
  };
  const { mailIn } = config;
  if (!mailIn) return drop("no se recibe correo");
  if (isAutomatic(mail.headers)) return drop("lo ha enviado un programa");
  const address = provenSender(mail, mailIn.trusts);
  if (!address) return drop("el servidor de correo no ha comprobado de quién es");
  const person = await knownSender(services, address);
  if (!person) return drop("no es de una cuenta activa");
  if (!(await mayTry(services, "message", person.id))) return "later";
  const thread = threadOf(mail, address);
  try {
    return await ask(services, person, mail, thread);
  } catch (error) {
    // A reply is being written in this conversation.
    if (error instanceof Busy || (error instanceof LimitReached && !error.ofPlan)) return "later";
    if (!(error instanceof Problem || error instanceof LimitReached || error instanceof CannotReply)) throw error;
    await refuseByMail(services, thread, error.message);
    return "taken";
  }
}

/** The account of an address, if it may ask; undefined otherwise. */
async function knownSender(services: Services, address: string): Promise<Person | undefined> {
  const account = await services.db.selectFrom("users").where("emailKey", "=", address).select("id").executeTakeFirst();
  const person = account && (await findPerson(services, account.id));
  return person?.status === "active" && !person.owesTerms ? person : undefined;
}

function threadOf({ headers, subject }: IncomingMail, to: string): Thread {
  const line = (name: string) => headerIn(headers, name).replace(/\s+/g, " ").slice(0, 2_000);
  const messageId = line("message-id");
  const about = subject.replace(/\s+/g, " ").trim().slice(0, 200).toWellFormed();
  return {
    to,
    subject: /^re:/i.test(about) ? about : `Re: ${about || "tu pregunta"}`,
    inReplyTo: messageId,
    references: `${line("references")} ${messageId}`.trim(),
  };
}

async function ask(services: Services, person: Person, mail: IncomingMail, thread: Thread): Promise<Taken> {
  const replyId = answeredReply(services, mail.headers);
  // Quoted text in an answer is known here; in a new e-mail the question is about it, as where something is forwarded.
  const words = replyId ? ownWords(mail.text) : newWords(mail.text);
  const content = cleanConversationText(words) || (mail.attachments.length > 0 ? "" : mail.subject.trim());
  if (content.length > limits.message) {
    throw new Problem(
      422,
      `Tu mensaje pasa de ${limits.message.toLocaleString("es")} caracteres. Lleva lo largo en un archivo.`,
    );
  }
  const key = `mail:${createHash("sha256").update(`${thread.inReplyTo} ${thread.to}`).digest("hex")}`;
  const chatId = replyId && (await chatOf(services.db, person, replyId));
  const sent = await services.db
    .selectFrom("messages")
    .where("userId", "=", person.id)
    .where("key", "=", thread.inReplyTo ? key : "")
    .select("id")
    .executeTakeFirst();
  // The e-mail was delivered again: its answer has begun, and is sent only once.
  if (sent) {
    await answerAgain(services, person, sent.id, thread);
    return "taken";
  }
  const { fileIds, refused } = await takeFiles(services, person, mail.attachments);
  if (content === "" && fileIds.length === 0) {
    throw new Problem(
      422,
      `No se ha encontrado ninguna pregunta en tu correo.${refused.map((one) => ` ${one}`).join("")}`,
    );
  }
  const given = { content, fileIds, temporary: false, keepDraft: true, ...(thread.inReplyTo && { key }) };
  const question = { ...given, ...(chatId && { chatId }) };
  const { messageId } = await start(services, person, question, undefined).catch(async (error: unknown) => {
    await services.files.delete(fileIds);
    throw error;
  });
  services.changes.tell({ userId: person.id, what: "chat" });
  await addMailAnswer(services, { replyId: messageId, userId: person.id, thread, refused });
  return "taken";
}

/** Sends the reply to a question if the process died before the job for sending was stored. */
async function answerAgain(
  services: Services,
  { id: userId }: Person,
  questionId: string,
  thread: Thread,
): Promise<void> {
  const { db } = services;
  const reply = await db
    .selectFrom("messages")
    .where("parentId", "=", questionId)
    .orderBy("id")
    .select("id")
    .executeTakeFirst();
  if (!reply) return;
  const noted = db.selectFrom("jobs").where("kind", "=", "mail-answer").where("subjectId", "=", reply.id).select("id");
  if (!(await noted.executeTakeFirst())) {
    await addMailAnswer(services, { replyId: reply.id, userId, thread, refused: [] });
  }
}

/** The person's own conversation that contains a reply; undefined if the conversation is gone. */
async function chatOf(db: Db, person: Person, replyId: string): Promise<string | undefined> {
  const found = await db
    .selectFrom("messages")
    .innerJoin("chats", "chats.id", "messages.chatId")
    .where("messages.id", "=", replyId)
    .where("chats.userId", "=", person.id)
    .where("chats.sessionId", "is", null)
    .select("chats.id")
    .executeTakeFirst();
  return found?.id;
}

/** Keeps attachments as files of the person, as far as they can be read; `refused`: sentences about the others. */
async function takeFiles({ files }: Services, { id: userId }: Person, attachments: Attachment[]) {
  const refused: string[] = [];
  const rows: Awaited<ReturnType<typeof files.take>>[] = [];
  const keep = { userId, projectId: null, temporary: true };
  for (const [n, attachment] of attachments.entries()) {
    const refuse = (why: string) => refused.push(`«${attachment.name.slice(0, 60)}» ${why}`);
    if (n >= limits.filesPerMessage) refuse(`no se ha mirado: son ${limits.filesPerMessage} archivos como mucho.`);
    else {
      try {
        rows.push(await files.take(attachment, keep));
      } catch (error) {
        if (!(error instanceof FileRefused)) throw error;
        refuse(error.message);
      }
    }
  }
  const settled = await files.settled([...new Map(rows.map((row) => [row.id, row])).values()], patience);
  const unread = settled.filter(({ problem }) => problem !== null);
  for (const { name, problem } of unread) refused.push(`«${name}» ${problem}`);
  await files.delete(unread.map(({ id }) => id));
  return { fileIds: settled.filter(({ problem }) => problem === null).map(({ id }) => id), refused };
}
