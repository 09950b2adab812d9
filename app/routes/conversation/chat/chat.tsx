import { type SubmitEvent, Suspense, useEffect, useRef, useState } from "react";
import { data, redirect, useOutlet, useRevalidator, useSubmit } from "react-router";
import { v7 as newId } from "uuid";
import { isTextBrowser } from "../../../http/text-browsers.server.ts";
import { Bar } from "../../../ui/bar.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { lazily } from "../../../ui/lazily.ts";
import { named } from "../../../ui/navigation/page-title.ts";
import { showSeen } from "../../../ui/navigation/pages-seen.ts";
import { BehindDialog } from "../../../ui/overlays/behind-dialog.tsx";
import { accepted, read } from "../../../web/api-result.server.ts";
import {
  apiContext,
  type Context,
  formContext,
  keepContext,
  lightContext,
  sessionContext,
} from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { dashboardOf } from "../../../web/dashboard.server.ts";
import type { ComposerDraft } from "../../../web/forms/drafts.server.ts";
import { textOf } from "../../../web/forms/form.server.ts";
import { attachedFiles } from "../../../web/forms/uploads.server.ts";
import { planLeft } from "../composer/plan-left.server.ts";
import { send } from "../composer/send.server.ts";
import { listModels } from "../models.server.ts";
import { Reader } from "../reader/reader.tsx";
import { carryTurn } from "../reply/live.server.tsx";
import { noticeOf } from "../reply-notice.server.ts";
import { type RenderedTurn, withBodies } from "../turn/turn-body.server.tsx";
import { showTurns } from "../turn/turns.server.ts";
import type { Route } from "./+types/chat";
import { ChatFoot } from "./chat-foot.tsx";
import { ChatMenu } from "./chat-menu.tsx";

// Most conversations are one's own.
const ReadOnlyFoot = lazily(() => import("./read-only-foot.tsx"));

export const meta: Route.MetaFunction = ({ loaderData, matches }) =>
  named(matches, loaderData?.title ?? "Conversación");

// In ms after the reply's end. A model that has not given the chat a title by then will not give one.
const titleTakes = 30_000;

// Messages of a light page.
const lightTurns = "10";

export async function loader({ context, params, request, url }: Route.LoaderArgs) {
  const api = context.get(apiContext);
  const param = { id: params.id };
  const through = url.searchParams.get("version") ?? undefined;
  const before = url.searchParams.get("antes") ?? undefined;
  const around = url.searchParams.get("mensaje") ?? undefined;
  const limit = context.get(lightContext) ? lightTurns : undefined;
  const [{ chat, ...branch }, models, left, { voice }] = await Promise.all([
    read(api.api.chat[":id"].messages.$get({ param, query: { through, before, around, limit } })),
    listModels(context),
    planLeft(context),
    dashboardOf(context),
  ]);
  const { user } = await requireUser(context);
  const decides = user.id === chat.userId;
  const how = { folds: !isTextBrowser(request), decides, listens: voice.speaks, light: context.get(lightContext) };
  const turns = await showTurns(chat, branch.items, models, how);
  const last = turns.at(-1);
  // A page asked for by a script follows the reply by events; a document carries it in itself.
  const isDocument = !new URL(request.url).pathname.endsWith(".data");
  const marker = last?.status === "streaming" && isDocument ? carryTurn(context, chat, last, request) : undefined;
  const isWriting = last?.status === "streaming";
  // The browser may not keep temporary chats, which end with their session, nor other people's chats.
  if (decides && !chat.temporary && !isWriting) context.set(keepContext, user.id);
  const finishedAt = branch.items.at(-1)?.finishedAt;
  const hasJustEnded = finishedAt ? Date.now() - Date.parse(finishedAt) < titleTakes : false;
  const edited = await messageToEdit(context, chat.id, url);
  return {
    id: chat.id,
    title: chat.title,
    // Text browsers show a page only once it has loaded completely, and by then no running reply is left to stop.
    stoppable: !isTextBrowser(request),
    notice: isWriting && decides ? await noticeOf(context, last.id) : undefined,
    awaitsTitle: !chat.titled && last?.status === "complete" && hasJustEnded,
    pinned: chat.pinned,
    archived: chat.archived,
    turns: withBodies(context, chat.id, turns),
    marker,
    found: around,
    earlier: branch.hasEarlier ? branch.items[0]?.id : undefined,
    hasLater: branch.hasLater,
    models,
    left,
    modelId: chat.modelId,
    assistantId: chat.assistantId,
    temporary: chat.temporary,
    // Owner's name, for somebody who only reads the chat.
    author: decides ? undefined : chat.ownerName,
    // Administrators look after the chats of all.
    mayChange: decides || user.role === "admin",
    queued: chat.queued && (await showQueued(context, chat.queued, isWriting)),
    draft: await showDraft(context, edited ? draftOfEdit(edited, chat.modelId) : chat.draft),
    edits: edited && { messageId: edited.id, parentId: edited.parentId ?? "" },
    // Somebody who looks at an older version to its end continues that version; otherwise the newest one continues.
    shown: through ? `?version=${encodeURIComponent(through)}` : "",
    parentId: through || (around && !branch.hasLater) ? last?.id : undefined,
    // The name is not «key»: React takes `key` out of props that are spread.
    sendKey: newId(),
  };
}

const showDraft = async (context: Context, draft: ComposerDraft | null) =>
  draft && { ...draft, files: await attachedFiles(context, draft.fileIds) };

type Queued = { fileIds: string[]; problem: string | null };

/** The message that is sent when the reply that is being written has ended. */
async function showQueued<Message extends Queued>(context: Context, queued: Message, isWriting: boolean) {
  const files = (await attachedFiles(context, queued.fileIds)).map(({ name }) => name);
  return { ...queued, files, waits: isWriting && !queued.problem };
}

/** The composer draft for editing a message that was already sent, with its attachments. */
const draftOfEdit = (
  { content, attachments }: { content: string; attachments: { fileId: string | null }[] },
  modelId: string | null,
): ComposerDraft => ({ content, modelId, fileIds: attachments.flatMap(({ fileId }) => fileId ?? []) });

export async function action({ context, params }: Route.ActionArgs) {
  const form = context.get(formContext);
  const intent = textOf(form, "intent");
  if (intent === "copy") return goOnInCopy(context, params.id);
  if (intent !== "pin" && intent !== "archive") return send(context, { chatId: params.id });
  const archived = textOf(form, "archived") === "1";
  const json = intent === "pin" ? { pinned: textOf(form, "pinned") === "1" } : { archived };
  await accepted(context.get(apiContext).api.chat[":id"].$patch({ param: { id: params.id }, json }));
  if (intent === "pin") return null;
  const title = archived ? "Conversación archivada." : "Conversación desarchivada.";
  context.get(sessionContext).flash({ type: "success", title });
  return redirect(archived ? "/conversation/chat" : `/conversation/chat/${params.id}`, 303);
}

/** «Continuar en una copia»: a chat of the person's own, with what they have read. */
async function goOnInCopy(context: Route.ActionArgs["context"], id: string) {
  const copy = await read(context.get(apiContext).api.chat[":id"].copy.$post({ param: { id } }));
  context.get(sessionContext).flash({ type: "success", title: "Esta copia es tuya." });
  return redirect(`/conversation/chat/${copy.id}`, 303);
}

export const clientLoader = (args: Route.ClientLoaderArgs) => showSeen(args);
export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

/** The message that the address asks to edit; undefined: none. Throws 404 for one that is not the person's own in this chat. */
async function messageToEdit(context: Context, chatId: string, url: URL) {
  const id = url.searchParams.get("editar");
  if (!id) return undefined;
  const edited = await read(context.get(apiContext).api.message[":id"].$get({ param: { id } }));
  if (edited.chatId !== chatId || edited.role !== "user") throw data(null, 404);
  return edited;
}

export default function Chat({ loaderData: chat, actionData }: Route.ComponentProps) {
  const { id, turns, marker, edits } = chat;
  const last = turns.at(-1);
  const dialog = useOutlet();
  // In a document that streams a reply, the composer must come before the reply in the HTML, or it would appear only
  // at its end. The state keeps this order afterwards, so that no element is moved.
  const [composerFirst] = useState(marker !== undefined);
  useTitle(chat.awaitsTitle, last?.id);
  const submitReplyForm = useReplyForms(last);
  const reader = (
    <Reader
      key={`reader ${id}`}
      chatId={id}
      turns={turns}
      marker={marker}
      found={chat.found}
      edited={edits?.messageId}
      earlier={chat.earlier}
      hasLater={chat.hasLater}
    />
  );
  const foot = chat.author ? (
    <Suspense key="foot">
      <ReadOnlyFoot author={chat.author} />
    </Suspense>
  ) : (
    <ChatFoot
      key="foot"
      chatId={id}
      lastReply={turns.findLast(({ role }) => role === "assistant")?.id}
      temporary={chat.temporary}
      notice={chat.notice}
      edits={edits}
      queued={chat.queued}
      sendKey={chat.sendKey}
      left={chat.left}
      growing={last?.status === "streaming" && chat.stoppable ? last.id : undefined}
      parentId={chat.parentId}
      models={chat.models}
      modelId={chat.modelId}
      assistantId={chat.assistantId}
      draft={chat.draft}
      result={actionData ?? undefined}
    />
  );
  return (
    <BehindDialog dialog={dialog}>
      <ChatBar {...chat} />
      <main className="talk" id="contenido" onSubmit={submitReplyForm}>
        {composerFirst ? [foot, reader] : [reader, foot]}
      </main>
    </BehindDialog>
  );
}

function ChatBar({ id, title, author, mayChange, pinned, archived, shown }: Route.ComponentProps["loaderData"]) {
  return (
    <Bar keeps="composer">
      {!author && (
        <a className="skip" href="#mensaje">
          Escribir
        </a>
      )}
      <h1>{title}</h1>
      {mayChange && <ChatMenu id={id} pinned={pinned} archived={archived} shown={shown} />}
    </Bar>
  );
}

/** Shows the title as soon as a model has given one, which may be after its reply. */
function useTitle(awaited: boolean, replyId = "") {
  const { revalidate } = useRevalidator();
  useEffect(() => {
    if (awaited) void import("../stream/follow-events.ts").then((stream) => stream.awaitTitle(replyId, revalidate));
  }, [awaited, replyId, revalidate]);
}

/** Sends the forms of replies without leaving the page, and keeps the focus in it. */
function useReplyForms(last: RenderedTurn | undefined) {
  const submit = useSubmit();
  const asked = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the last turn has changed
  useEffect(() => {
    // The pressed button no longer exists. Without this, the focus would be lost to the body.
    const lost = asked.current && document.activeElement === document.body;
    // On touch screens the focus would open the keyboard.
    if (lost && matchMedia("(pointer: fine)").matches) document.getElementById("mensaje")?.focus();
    asked.current = false;
  }, [last?.id, last?.status]);
  return (event: SubmitEvent<HTMLElement>) => {
    const form = event.target;
    const button = event.nativeEvent.submitter as HTMLButtonElement | null;
    if (form.dataset.decisionForm !== undefined) {
      event.preventDefault();
      // The button says what is decided. Errors of a field are told on the form's own page.
      void submit(button, { preventScrollReset: true });
      return;
    }
    if (form.dataset.replyForm === undefined) return;
    event.preventDefault();
    asked.current = true;
    void submit(button, { navigate: false });
  };
}
