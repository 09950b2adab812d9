import { type FormEvent, useEffect, useRef, useState } from "react";
import { data, Link, redirect, useOutlet, useRevalidator, useSubmit } from "react-router";
import { v7 as newId } from "uuid";
import { accepted, read } from "../../answers.server.ts";
import { apiContext, formContext, sessionContext } from "../../context.ts";
import { textOf } from "../../form.server.ts";
import { Bar } from "../../ui/bar.tsx";
import { Icon } from "../../ui/icon.tsx";
import { showSeen } from "../../ui/pages-seen.ts";
import { sendForm } from "../../ui/send-form.ts";
import { attachedFiles } from "../../uploads.server.ts";
import type { Route } from "./+types/chat";
import { ChatMenu } from "./chat-menu.tsx";
import { Composer } from "./composer.tsx";
import { carryLive } from "./live.server.tsx";
import { listModels } from "./models.server.ts";
import { planLeft } from "./plan-left.server.ts";
import { send } from "./send.server.ts";
import { SentMessage } from "./sent-message.tsx";
import { Turn } from "./turn.tsx";
import { showTurns } from "./turns.server.ts";

export const meta: Route.MetaFunction = ({ loaderData }) => [
  { title: `${loaderData?.title ?? "Conversación"} · Tertulia` },
];

// A model that has not named a chat by then won't.
const titleTakes = 30_000;

export async function loader({ context, params, request, url }: Route.LoaderArgs) {
  const api = context.get(apiContext);
  const param = { id: params.id };
  const through = url.searchParams.get("version") ?? undefined;
  const before = url.searchParams.get("antes") ?? undefined;
  const around = url.searchParams.get("mensaje") ?? undefined;
  const [chat, branch, models, left] = await Promise.all([
    read(api.api.chat[":id"].$get({ param })),
    read(api.api.chat[":id"].messages.$get({ param, query: { through, before, around } })),
    listModels(context),
    planLeft(context),
  ]);
  const turns = showTurns(chat.id, branch.items, models);
  const last = turns.at(-1);
  // A page asked for by a script follows the reply by events; a document carries it in itself.
  const isDocument = !new URL(request.url).pathname.endsWith(".data");
  const marker =
    last?.status === "streaming" && isDocument ? carryLive(context, chat.id, last, request.signal) : undefined;
  const finishedAt = branch.items.at(-1)?.finishedAt;
  const justFinished = finishedAt ? Date.now() - Date.parse(finishedAt) < titleTakes : false;
  const editing = url.searchParams.get("editar");
  const edited = editing ? await read(api.api.message[":id"].$get({ param: { id: editing } })) : undefined;
  if (edited && (edited.chatId !== chat.id || edited.role !== "user")) throw data(null, 404);
  return {
    id: chat.id,
    title: chat.title,
    awaitsTitle: !chat.titled && last?.status === "complete" && justFinished,
    pinned: chat.pinned,
    archived: chat.archived,
    turns,
    marker,
    found: around,
    earlier: branch.hasEarlier ? branch.items[0]?.id : undefined,
    hasLater: branch.hasLater,
    models: models.map(({ id, name, isDefault }) => ({ id, name, isDefault })),
    left,
    modelId: chat.modelId,
    temporary: chat.temporary,
    draft: await showDraft(context, edited ? draftOfEdit(edited, chat.modelId) : chat.draft),
    edits: edited && { messageId: edited.id, parentId: edited.parentId ?? "" },
    // What is on the screen to its end is what goes on.
    parentId: through || (around && !branch.hasLater) ? last?.id : undefined,
    key: newId(),
  };
}

type Draft = { content: string; modelId: string | null; fileIds: string[] };

const showDraft = async (context: Route.LoaderArgs["context"], draft: Draft | null) =>
  draft && { ...draft, files: await attachedFiles(context, draft.fileIds) };

/** What was sent before, to be sent otherwise, its files with it. */
const draftOfEdit = (
  { content, attachments }: { content: string; attachments: { fileId: string | null }[] },
  modelId: string | null,
): Draft => ({ content, modelId, fileIds: attachments.flatMap(({ fileId }) => fileId ?? []) });

export async function action({ context, params }: Route.ActionArgs) {
  const form = context.get(formContext);
  const intent = textOf(form, "intent");
  if (intent !== "pin" && intent !== "archive") return send(context, { chatId: params.id });
  const archived = textOf(form, "archived") === "1";
  const json = intent === "pin" ? { pinned: textOf(form, "pinned") === "1" } : { archived };
  await accepted(context.get(apiContext).api.chat[":id"].$patch({ param: { id: params.id }, json }));
  if (intent === "pin") return null;
  const title = archived ? "Conversación archivada." : "Conversación fuera del archivo.";
  context.get(sessionContext).flash({ type: "success", title });
  return redirect(archived ? "/conversation/chat" : `/conversation/chat/${params.id}`, 303);
}

export const clientLoader = (args: Route.ClientLoaderArgs) => showSeen(args);
export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function Chat({ loaderData, actionData }: Route.ComponentProps) {
  const { id, title, turns, marker, found, earlier, hasLater, models, left, modelId, draft, edits, parentId, key } =
    loaderData;
  const lastId = turns.at(-1)?.id ?? "";
  const lastStatus = turns.at(-1)?.status;
  const submit = useSubmit();
  const dialog = useOutlet();
  const reader = useRef<HTMLDivElement>(null);
  const asked = useRef(false);
  // A document that is still being written needs its composer before its text; nothing moves once it is there.
  const [composerFirst] = useState(marker !== undefined);
  const { revalidate } = useRevalidator();
  const { awaitsTitle } = loaderData;
  useEffect(() => {
    if (awaitsTitle) void import("./follow-events.ts").then(({ awaitTitle }) => awaitTitle(lastId, revalidate));
  }, [awaitsTitle, lastId, revalidate]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the last turn has changed
  useEffect(() => {
    // Most conversations have no code, and need none of ours for it.
    if (!reader.current?.querySelector("figure.code")) return;
    let stop: (() => void) | undefined;
    let left = false;
    void import("./code-copy.ts").then(({ offerCopies }) => {
      if (!left) stop = offerCopies(reader.current);
    });
    return () => {
      left = true;
      stop?.();
    };
  }, [lastId, lastStatus]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the last turn has changed
  useEffect(() => {
    // The button that was pressed is gone; the keyboard goes on where it stood.
    if (asked.current && document.activeElement === document.body) {
      reader.current
        ?.querySelector<HTMLElement>("article:last-of-type > .actions button, article:last-of-type > .actions a")
        ?.focus();
    }
    asked.current = false;
  }, [lastId, lastStatus]);
  const submitReplyForm = (event: FormEvent<HTMLElement>) => {
    const form = event.target as HTMLFormElement;
    if (form.dataset.replyForm === undefined) return;
    event.preventDefault();
    asked.current = true;
    void submit((event.nativeEvent as SubmitEvent).submitter as HTMLButtonElement, { navigate: false });
  };
  const conversation = (
    <div key="reader" className="reader" ref={reader}>
      <div className="turns" onSubmit={submitReplyForm}>
        {earlier && (
          <p className="mb-12 text-center">
            <Link className="button small" to={`/conversation/chat/${id}?antes=${earlier}`}>
              Ver mensajes anteriores
            </Link>
          </p>
        )}
        {turns.map((turn, index) => (
          <Turn
            key={turn.id}
            chatId={id}
            turn={turn}
            marker={index === turns.length - 1 ? marker : undefined}
            found={turn.id === found}
          />
        ))}
        <SentMessage />
        {hasLater && (
          <p className="mt-12 text-center">
            <Link className="button small" to={`/conversation/chat/${id}`}>
              Volver al final
            </Link>
          </p>
        )}
      </div>
    </div>
  );
  const foot = (
    <div key="foot" className="foot">
      {loaderData.temporary && (
        <p className="editing">
          Conversación temporal: se borra al cerrar esta sesión, y no sale en la barra ni en la búsqueda.
        </p>
      )}
      {edits && (
        <p className="editing">
          Estás editando un mensaje anterior; la conversación sigue desde ahí.
          <Link to={`/conversation/chat/${id}`}>Cancelar</Link>
        </p>
      )}
      <Composer
        // A sent message empties it; a reply that ends does not touch what is being typed.
        key={`${edits?.messageId ?? ""}${turns.findLast(({ role }) => role === "user")?.id ?? lastId}`}
        chatId={id}
        edits={edits !== undefined}
        sendKey={key}
        left={left}
        parentId={edits?.parentId ?? parentId}
        models={models}
        modelId={modelId}
        draft={draft}
        result={actionData ?? undefined}
        placeholder="Escribe un mensaje"
      />
    </div>
  );
  return (
    <>
      {dialog}
      <div className="contents" inert={dialog !== null}>
        <Bar keeps="composer">
          <h1>{title}</h1>
          <ChatMenu id={id} pinned={loaderData.pinned} archived={loaderData.archived} />
          <Link className="button quiet small only narrow" to="/conversation/chat">
            <Icon name="plus" label="Nueva conversación" />
          </Link>
        </Bar>
        <main className="talk" id="contenido">
          {composerFirst ? [foot, conversation] : [conversation, foot]}
        </main>
      </div>
    </>
  );
}
