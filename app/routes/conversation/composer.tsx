import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Link, useNavigation } from "react-router";
import { Icon } from "../../ui/icon.tsx";
import { forgetPage } from "../../ui/pages-seen.ts";
import { PostForm } from "../../ui/post-form.tsx";
import type { AttachedFile } from "../../uploads.server.ts";
import { useAttached } from "./attached.tsx";
import type { ListedModel } from "./models.server.ts";
import type { ComposerResult } from "./send.server.ts";

const none: AttachedFile[] = [];

type Props = {
  chatId?: string;
  /** The project that a new chat begins in. */
  projectId?: string;
  /** Sent twice, it makes one message. */
  sendKey: string;
  parentId?: string | undefined;
  /** An earlier message is being edited. */
  edits?: boolean;
  models: Pick<ListedModel, "id" | "name" | "isDefault">[];
  modelId?: string | null;
  draft: { content: string; modelId: string | null; files?: AttachedFile[] } | null;
  result: ComposerResult | undefined;
  /** What the plan still leaves, where that is little. */
  left?: string | undefined;
  placeholder: string;
  autoFocus?: boolean;
};

/** Where a message is written. The form is whole without a script; a script adds Enter and saves the draft. */
export function Composer({
  chatId,
  projectId,
  sendKey,
  parentId,
  edits,
  models,
  modelId,
  draft,
  result,
  left,
  placeholder,
  autoFocus,
}: Props) {
  // The reply that ends refreshes the page; why a message was not sent must stay.
  const [refused, setRefused] = useState(result);
  if (result && result !== refused) setRefused(result);
  const { values, errors = {}, message } = refused ?? {};
  const failed = message ?? Object.values(errors)[0];
  const sending = useNavigation().formData?.has("content") ?? false;
  const page = pageOf(chatId, projectId);
  const draftKeeper = useDraft(page, edits === true || values?.edits === "1");
  const form = useRef<HTMLFormElement>(null);
  const attached = useAttached(draft?.files ?? none, refused?.files, () => {
    if (form.current) draftKeeper.keep({ currentTarget: form.current });
  });
  // Sent while files were on their way: it goes when they are there.
  const waits = useRef(false);
  useEffect(() => {
    if (attached.uploading || !waits.current) return;
    waits.current = false;
    // Without its file it would say something else.
    if (!attached.refused) form.current?.requestSubmit();
  }, [attached.uploading, attached.refused]);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // Sending makes a new composer; whoever was writing goes on writing. On touch screens that would raise the keyboard.
    if (document.activeElement === document.body && matchMedia("(pointer: fine)").matches) field.current?.focus();
  }, []);
  const error = attached.refused ?? failed;
  const follows = values?.parentId ?? parentId;
  const chosen = values?.modelId || draft?.modelId || modelId || models.find(({ isDefault }) => isDefault)?.id;
  return (
    <PostForm
      id="composer"
      action={page}
      onInput={draftKeeper.keep}
      ref={form}
      encType="multipart/form-data"
      onSubmit={(event) => {
        if (attached.uploading) {
          event.preventDefault();
          waits.current = true;
        } else draftKeeper.cancel();
      }}
    >
      <input type="hidden" name="fileIds" value={attached.ids} />
      {chatId && <input type="hidden" name="chatId" value={chatId} />}
      {projectId && <input type="hidden" name="projectId" value={projectId} />}
      <input type="hidden" name="key" value={values?.key || sendKey} />
      {follows !== undefined && <input type="hidden" name="parentId" value={follows} />}
      {(edits || values?.edits) && <input type="hidden" name="edits" value="1" />}
      {error && (
        <p className="error mb-3" id="mensaje-error" role="alert">
          <Icon name="alert" />
          <span>{error}</span>
        </p>
      )}
      <div className="composer" data-sending={sending || undefined} {...attached.receives}>
        {attached.list}
        <label className="sr-only" htmlFor="mensaje">
          Mensaje
        </label>
        <textarea
          ref={field}
          id="mensaje"
          name="content"
          rows={1}
          placeholder={placeholder}
          required
          // biome-ignore lint/a11y/noAutofocus: writing is what this page is for
          autoFocus={autoFocus}
          defaultValue={values?.content ?? draft?.content}
          readOnly={sending}
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? "mensaje-error" : undefined}
          onKeyDown={sendOnEnter}
        />
        <div className="tools">
          {attached.chooser}
          <span className="select model">
            <label className="sr-only" htmlFor="modelo">
              Modelo
            </label>
            <select id="modelo" name="modelId" defaultValue={chosen}>
              {models.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
            <Icon name="chevron" />
          </span>
          <button type="submit" className="button primary small">
            <Icon name="send" />
            Enviar
          </button>
        </div>
      </div>
      {left && (
        <p className="hint mt-2">
          {left} <Link to="/user">Tu plan</Link>
        </p>
      )}
    </PostForm>
  );
}

function sendOnEnter(event: KeyboardEvent<HTMLTextAreaElement>) {
  // While an input method composes, Enter belongs to it.
  if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}

const pageOf = (chatId: string | undefined, projectId: string | undefined) =>
  projectId ? `/conversation/project/${projectId}` : chatId ? `/conversation/chat/${chatId}` : "/conversation/chat";

const savedAfter = 800;

/** Saves the draft when typing pauses, and at once on leaving; a failure must not disturb who is typing. */
function useDraft(page: string, edits: boolean) {
  const waiting = useRef<{ timer: ReturnType<typeof setTimeout>; save: () => void }>(undefined);
  const leave = () => {
    clearTimeout(waiting.current?.timer);
    waiting.current?.save();
    waiting.current = undefined;
  };
  const cancel = () => {
    clearTimeout(waiting.current?.timer);
    waiting.current = undefined;
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only on leaving
  useEffect(() => {
    addEventListener("pagehide", leave);
    return () => {
      removeEventListener("pagehide", leave);
      leave();
    };
  }, []);
  const keep = ({ currentTarget }: { currentTarget: HTMLFormElement }) => {
    cancel();
    // Who writes will follow a reply.
    void import("./follow-events.ts");
    // What was sent before is being edited; the draft of the next message stays as it is.
    if (edits) return;
    const form = new FormData(currentTarget);
    const body = new URLSearchParams(
      [...form].filter((field): field is [string, string] => typeof field[1] === "string"),
    );
    const save = () => {
      forgetPage(page);
      void fetch("/conversation/draft", { method: "POST", body, keepalive: true }).catch(() => {});
    };
    waiting.current = { save, timer: setTimeout(leave, savedAfter) };
  };
  return { keep, cancel };
}
