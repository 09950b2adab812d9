import { limits } from "../../../process/limits.ts";
import { uploading } from "../../../ui/navigation/busy.tsx";
import type { Uploaded } from "../../../web/forms/uploads.server.ts";

/** Uploads on their way: the first name and how many more, and the part that has been sent, from 0 to 1. */
export type Progress = { name: string; part: number };

type UploadOptions = {
  form: HTMLFormElement;
  /** Undefined: no more files are on their way. */
  onProgress(progress: Progress | undefined): void;
  onAnswer(answer: Uploaded): void;
};

let waiting = 0;
/** Ids of the files uploaded since nothing was waiting. The page shows them a moment later. */
let uploaded: string[] = [];
let last = Promise.resolve();

/** Sends files ahead of their message, after the files that were chosen before them. */
export function uploadAfter(sent: File[], options: UploadOptions): Promise<void> {
  waiting++;
  last = last.then(async () => {
    const answer = await upload(sent, options);
    uploaded.push(...answer.files.map(({ id }) => id));
    options.onAnswer(answer);
    waiting--;
    if (waiting > 0) return;
    uploaded = [];
    options.onProgress(undefined);
  });
  return last;
}

/** How many more files the message may have. */
function roomIn(form: FormData) {
  const ids = String(form.get("fileIds")).split(",").filter(Boolean);
  return limits.filesPerMessage - new Set([...ids, ...uploaded]).size;
}

/** Sends files and tells their progress. Never throws: files that can't be sent are refused. */
async function upload(sent: File[], { form, onProgress }: UploadOptions): Promise<Uploaded> {
  const fields = new FormData(form);
  const room = roomIn(fields);
  const refused = sent
    .slice(room)
    .map(({ name }) => `«${name}» no cabe: un mensaje puede llevar ${limits.filesPerMessage} archivos como mucho.`);
  const files: File[] = [];
  for (const file of sent.slice(0, room)) {
    // A folder that was dropped is a file that can't be read.
    const isReadable = await file
      .slice(0, 1)
      .arrayBuffer()
      .then(Boolean, () => false);
    if (isReadable) files.push(file);
    else refused.push(`«${file.name}» es una carpeta, o un archivo que no se puede leer.`);
  }
  const [first] = files;
  if (!first) return { files: [], refused };
  const body = new FormData();
  body.set("formToken", String(fields.get("formToken")));
  for (const file of files) body.append("files", file);
  const name = files.length > 1 ? `${first.name} y ${files.length - 1} más` : first.name;
  uploading(1);
  try {
    const answer = await post(body, (part) => onProgress({ name, part }));
    return { ...answer, refused: [...answer.refused, ...refused] };
  } catch (status) {
    const ended = status === 401 || status === 403;
    const advice = ended ? "Tu sesión ha terminado: recarga la página." : "Inténtalo otra vez.";
    return { files: [], refused: [`No se ha podido subir ${name}. ${advice}`, ...refused] };
  } finally {
    uploading(-1);
  }
}

/** Uses XMLHttpRequest: fetch tells no progress of sending. */
function post(body: FormData, onPart: (part: number) => void): Promise<Uploaded> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", "/conversation/adjuntar");
    request.responseType = "json";
    request.upload.addEventListener("progress", ({ loaded, total }) => onPart(total > 0 ? loaded / total : 0));
    request.addEventListener("load", () =>
      request.status === 200 ? resolve(request.response) : reject(request.status),
    );
    request.addEventListener("error", () => reject(0));
    onPart(0);
    request.send(body);
  });
}
