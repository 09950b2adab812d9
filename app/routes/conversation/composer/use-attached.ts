import {
  type ChangeEvent,
  type ClipboardEvent,
  type DragEvent,
  type RefObject,
  useEffect,
  useRef,
  useState,
} from "react";
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
  const { add, progress, refused } = useUploads(room, files.length, (more) =>
    setFiles((others) => [...others, ...more]),
  );
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
    /** Props of the element into which files may be pasted or dropped. */
    receives: { ref: room, ...receiving(add) },
  };
}

/** `add` uploads the chosen files, after the uploads already on their way. `count`: how many files the composer has. */
function useUploads(room: RefObject<HTMLElement | null>, count: number, onUploaded: (files: ComposerFile[]) => void) {
  const [progress, setProgress] = useState<Progress>();
  const [refused, setRefused] = useState<string>();
  const taken = useRef(count);
  useEffect(() => {
    taken.current = count;
  }, [count]);

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
        taken,
        onProgress: setProgress,
        onAnswer({ files, refused }) {
          taken.current += files.length;
          onUploaded(files);
          if (refused.length > 0) setRefused(refused.join(" "));
        },
      });
    } catch {
      setProgress(undefined);
      setRefused("No se ha podido subir. Inténtalo otra vez.");
    }
  };
  return { add, progress, refused };
}

function receiving(add: (sent: File[]) => unknown) {
  const take = (event: ClipboardEvent | DragEvent, from: DataTransfer) => {
    // Spreadsheets and word processors put an image of the copied cells or text beside the text; the text is wanted.
    if (from.files.length === 0 || from.types.includes("text/plain")) return;
    event.preventDefault();
    add([...from.files]);
  };
  return {
    onPaste: (event: ClipboardEvent) => take(event, event.clipboardData),
    onDrop: (event: DragEvent) => take(event, event.dataTransfer),
    // A browser fires `drop` only where `dragover` was cancelled.
    onDragOver: (event: DragEvent) => event.dataTransfer.types.includes("Files") && event.preventDefault(),
  };
}
