import { type KeyboardEvent, type RefObject, Suspense, useEffect, useRef, useState } from "react";
import { Link, useNavigation, useRouteLoaderData } from "react-router";
import type { loader as root } from "../../../root.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { Select } from "../../../ui/forms/select.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { isComposing } from "../../../ui/input/composing.ts";
import { lazily } from "../../../ui/lazily.ts";
import { composerPage } from "../../../web/forms/draft-place.ts";
import type { ComposerFile } from "../../../web/forms/uploads.server.ts";
import type { loader as shell } from "../../shell/layout.tsx";
import type { ModelChoice } from "../models.server.ts";
import { FileChooser, Names } from "./file-chooser.tsx";
import type { ComposerResult } from "./send.server.ts";
import { ofAssistant } from "./spoken-to.ts";
import { useAttached } from "./use-attached.ts";
import { useDraft } from "./use-draft.ts";

// Most messages have no files.
const AttachedList = lazily(() => import("./attached-list.tsx"), Names);

// Without a model that hears, the script for dictation is not loaded.
const Dictation = lazily(() => import("../voice/dictation.tsx"));

const none: ComposerFile[] = [];

type Props = {
  chatId?: string;
  /** The project that a new chat begins in. */
  projectId?: string;
  /** Idempotency key of the message. */
  sendKey: string;
  parentId?: string | undefined;
  /** An earlier message is being edited. */
  edits?: boolean;
  models: ModelChoice[];
  modelId?: string | null;
  assistantId?: string | null;
  draft: { content: string; modelId: string | null; files?: ComposerFile[] } | null;
  result: ComposerResult | undefined;
  /** The reply that is being written: «Detener» stands in the place of «Enviar». */
  growing?: string | undefined;
  /** Sentence on the rest of the plan, if little is left. */
  left?: string | undefined;
  placeholder: string;
  autoFocus?: boolean;
};

/** The composer of a message. The form works without a script; a script adds Enter and saves the draft. */
export function Composer({ result, growing, edits, models, draft, left, ...props }: Props) {
  const { values, files, failed } = useRefusal(result);
  const page = composerPage(props);
  const draftKeeper = useDraft(page, edits === true || values?.edits === "1");
  const form = useRef<HTMLFormElement>(null);
  const attached = useAttached(draft?.files ?? none, files, () => {
    if (form.current) draftKeeper.keep({ currentTarget: form.current });
  });
  const waitForUpload = useWaitForUpload(form, attached);
  const error = attached.refused ?? failed;
  const asked = values?.modelId || draft?.modelId;
  const had = props.assistantId ? ofAssistant(props.assistantId) : props.modelId;
  const chosen = asked || had || models.find(({ isDefault }) => isDefault)?.id;
  const { assistants = [], voice, aiNotice } = useRouteLoaderData<typeof shell>("routes/shell/layout") ?? {};
  const sending = useNavigation().formData?.has("content") ?? false;
  return (
    <PostForm
      id="composer"
      action={page}
      onInput={draftKeeper.keep}
      ref={form}
      encType="multipart/form-data"
      onSubmit={(event) => {
        if (!waitForUpload(event)) draftKeeper.cancel();
      }}
    >
      <HiddenFields {...props} edits={edits} values={values} fileIds={attached.ids} />
      {error && <Refusal text={error} />}
      <div className="composer" data-sending={sending || undefined} {...attached.receives}>
        {(attached.files.length > 0 || attached.progress) && (
          <Suspense>
            <AttachedList {...attached} models={models} chosen={chosen} />
          </Suspense>
        )}
        <MessageField
          {...props}
          edits={edits}
          text={values?.content ?? draftKeeper.typed ?? draft?.content}
          sending={sending}
          wrong={Boolean(error)}
          // Files alone can be a message.
          required={attached.ids.length === 0}
        />
        <div className="tools">
          <FileChooser choose={attached.choose} />
          {voice?.hears && (
            <Suspense>
              <Dictation />
            </Suspense>
          )}
          <SpokenTo models={models} assistants={assistants} chosen={chosen} />
          <SendButtons edits={edits} growing={growing} />
        </div>
      </div>
      <p className="ai-notice">{aiNotice}</p>
      {left && !error && <LittleLeft text={left} />}
    </PostForm>
  );
}

const Refusal = ({ text }: { text: string }) => (
  <p className="error mb-3" id="mensaje-error" role="alert">
    <Icon name="alert" />
    <span>{text}</span>
  </p>
);

const LittleLeft = ({ text }: { text: string }) => (
  <p className="hint mt-2">
    {text} <Link to="/user">Tu plan</Link>
  </p>
);

type SpokenToProps = { models: ModelChoice[]; assistants: { id: string; name: string }[]; chosen: string | undefined };

/** Choice of the model, or of the assistant, that the message is sent to. */
function SpokenTo({ models, assistants, chosen }: SpokenToProps) {
  return (
    <>
      <label className="sr-only" htmlFor="modelo">
        Modelo
      </label>
      <Select
        className=""
        id="modelo"
        name="modelId"
        choices={models}
        others={{ label: "Asistentes", choices: assistants.map(({ id, name }) => ({ id: ofAssistant(id), name })) }}
        defaultValue={chosen}
      />
    </>
  );
}

/** «Enviar» and, while a reply is being written, «Detener» in its place, or beside it when there is something to send. */
function SendButtons({ edits, growing }: Pick<Props, "edits" | "growing">) {
  return (
    <>
      <button type="submit" className="button primary small">
        <Icon name="send" />
        {edits ? "Enviar de nuevo" : "Enviar"}
      </button>
      {growing && (
        <button type="submit" className="button small stop" form="detener" formNoValidate>
          <Icon name="stop" />
          <span className="text">Detener</span>
        </button>
      )}
    </>
  );
}

/** The last refused submission. Kept in state, because the router drops `actionData` when the page is revalidated. */
function useRefusal(result: ComposerResult | undefined) {
  const [refused, setRefused] = useState(result);
  if (result && result !== refused) setRefused(result);
  const { values, errors = {}, message, files } = refused ?? {};
  return { values, files, failed: message || Object.values(errors)[0] };
}

/** A form submitted during an upload is sent when the upload is done. Returns whether the form has to wait. */
function useWaitForUpload(
  form: RefObject<HTMLFormElement | null>,
  { progress, refused }: ReturnType<typeof useAttached>,
) {
  const waits = useRef(false);
  const uploading = progress !== undefined;
  useEffect(() => {
    if (uploading || !waits.current) return;
    waits.current = false;
    // After a failed upload the form is not sent: the message would mean something else without the file.
    if (!refused) form.current?.requestSubmit();
  }, [uploading, refused, form]);
  return (event: { preventDefault(): void }) => {
    if (!uploading) return false;
    event.preventDefault();
    waits.current = true;
    return true;
  };
}

type HiddenProps = Pick<Props, "chatId" | "projectId" | "sendKey" | "parentId" | "edits"> & {
  values: Record<string, string> | undefined;
  fileIds: string;
};

function HiddenFields({ chatId, projectId, sendKey, parentId, edits, values, fileIds }: HiddenProps) {
  const hidden = {
    fileIds,
    // If the message is sent later, and somebody else uses the browser by then, it must not go out in that person's name.
    writtenBy: useRouteLoaderData<typeof root>("root")?.personId ?? "",
    chatId,
    projectId,
    key: values?.key || sendKey,
    parentId: values?.parentId ?? parentId,
    edits: edits || values?.edits ? "1" : undefined,
  };
  return Object.entries(hidden).map(
    ([name, value]) => value !== undefined && <input key={name} type="hidden" name={name} value={value} />,
  );
}

type FieldProps = Pick<Props, "placeholder" | "autoFocus" | "edits"> & {
  text: string | undefined;
  sending: boolean;
  wrong: boolean;
  required: boolean;
};

function MessageField({ placeholder, autoFocus, edits, text, sending, wrong, required }: FieldProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // Sending remounts the composer; restore the focus, except on touch screens, where it would open the keyboard.
    const free = document.activeElement === document.body && matchMedia("(pointer: fine)").matches;
    if (free || edits) field.current?.focus();
  }, [edits]);
  return (
    <>
      <label className="sr-only" htmlFor="mensaje">
        Mensaje
      </label>
      <textarea
        ref={field}
        id="mensaje"
        name="content"
        rows={1}
        placeholder={placeholder}
        required={required}
        // biome-ignore lint/a11y/noAutofocus: writing is what this page is for
        autoFocus={autoFocus}
        defaultValue={text}
        readOnly={sending}
        aria-invalid={wrong || undefined}
        aria-describedby={wrong ? "mensaje-error" : undefined}
        onKeyDown={sendOnEnter}
      />
    </>
  );
}

const isPhone = () => matchMedia("(pointer: coarse)").matches && !matchMedia("(any-pointer: fine)").matches;

function sendOnEnter(event: KeyboardEvent<HTMLTextAreaElement>) {
  const field = event.currentTarget;
  if (event.key === "/" && field.value === "") {
    void import("./offer-templates.ts").then((templates) => templates.offerTemplates(field));
  }
  // While an input method composes, Enter belongs to it; a phone's keyboard has no other key for a new line.
  if (event.key !== "Enter" || event.shiftKey || isComposing(event.nativeEvent) || isPhone()) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}
