import { type ChangeEvent, type ClipboardEvent, type RefObject, useEffect, useRef, useState } from "react";
import type { ComposerFile } from "../../../web/forms/uploads.server.ts";
import type { Progress } from "./upload.ts";

/**
 * The files of a composer: files that wait with its text, and what a script adds: progress, pasting, dropping. `initial`: files of
 * the draft; `answered`: files in the server's last answer, which replace all others.
 */
export function useAttached(initial: ComposerFile[], answered: ComposerFile[] | undefined, onChange: () => void) {
  const [files, setFiles] = useState(answered ?? initial);
  const [known, setKnown] = useState(answered);
  if (answered && answered !== known) {
    setKnown(answered);
    setFiles(answered);
  }
  const room = useRef<HTMLDivElement>(null);
  const { add, progress, refused } = useUploads(room, (more) => setFiles((others) => [...others, ...more]));
  useEffect(() => {
    // A browser fires `drop` only where `dragover` was cancelled.
    window.ondragover = (event) => isForMessage(event) && event.preventDefault();
    window.ondrop = (event) => isForMessage(event) && take(event, event.dataTransfer, add);
    return () => {
      window.ondragover = window.ondrop = null;
    };
  });
  const ids = files.map(({ id }) => id).join(",");
  const before = useRef(ids);
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the files have changed
  useEffect(() => {
    if (ids !== before.current) onChange();
    before.current = ids;
  }, [ids]);
  return {
    files,
    ids,
    progress,
    refused,
    remove: (id: string) => setFiles(files.filter((file) => file.id !== id)),
    choose({ currentTarget }: ChangeEvent<HTMLInputElement>) {
      const sent = [...(currentTarget.files ?? [])];
      currentTarget.value = "";
      void add(sent);
    },
    /** Props of the element into which files may be pasted. They may be dropped anywhere: the browser would leave the page to show them. */
    receives: { ref: room, onPaste: (event: ClipboardEvent) => take(event, event.clipboardData, add) },
  };
}

/** `add` uploads the chosen files, after the uploads already on their way. */
function useUploads(room: RefObject<HTMLElement | null>, onUploaded: (files: ComposerFile[]) => void) {
  const [progress, setProgress] = useState<Progress>();
  const [refused, setRefused] = useState<string>();

  const add = async (sent: File[]) => {
    const form = room.current?.closest("form");
    const [first] = sent;
    if (!first || !form) return;
    // The progress is shown at once, so that a message sent right now waits for the files.
    setProgress({ name: first.name, part: 0 });
    setRefused(undefined);
    try {
      const uploading = await import("./upload.ts");
      await uploading.uploadAfter(sent, {
        form,
        onProgress: setProgress,
        onAnswer({ files, refused }) {
          onUploaded(files);
          if (refused.length > 0) setRefused(refused.join(" "));
        },
      });
    } catch {
      // The module of an older build is gone.
      setProgress(undefined);
      setRefused("No se ha podido subir: recarga la página.");
    }
  };
  return { add, progress, refused };
}

/** Whether files are dragged, and not onto a dialog, which may have a field of its own for files. */
const isForMessage = ({ dataTransfer, target }: DragEvent) =>
  dataTransfer?.types.includes("Files") && !(target instanceof Element && target.closest("dialog"));

function take(event: ClipboardEvent | DragEvent, from: DataTransfer | null, add: (sent: File[]) => unknown): void {
  // Spreadsheets and word processors put an image of the copied cells or text beside the text, which is wanted.
  if (!from?.files.length || from.types.includes("text/rtf")) return;
  event.preventDefault();
  void add([...from.files]);
}
