import { ReceivedForm } from "../../http/received-form.server.ts";
import { limits } from "../../process/limits.ts";
import { read, refusalIn, whenStatus } from "../api-result.server.ts";
import { apiContext, type Context, filesContext, formContext, sessionContext } from "../context.ts";
import { type ShownFile, showFile } from "../file-display.server.ts";
import { type FormResult, textOf } from "./form.server.ts";

/** The field of a recording that is to become text instead of a file. */
export const dictated = "audio";

export type ComposerFile = ShownFile & { id: string };
/** `refused`: a sentence for each file that was not taken. */
export type Uploaded = { files: ComposerFile[]; refused: string[] };

/** Uploads the files of a form to the API, at most `room` of them, with the fields `to`: the destination, and a page to keep as well. */
export async function uploadFiles(
  context: Context,
  to: Record<string, string>,
  room = Number.POSITIVE_INFINITY,
): Promise<Uploaded> {
  const sent = context.get(filesContext).filter(({ field }) => field !== dictated);
  const taken = sent.slice(0, room);
  const refused = sent
    .slice(room)
    .map(({ name }) => `«${name}» no cabe: un mensaje puede llevar ${limits.filesPerMessage} archivos como mucho.`);
  if (taken.length === 0 && !to.address) return { files: [], refused };
  const body = new ReceivedForm(
    to,
    taken.map((file) => ({ ...file, field: "files" })),
  );
  try {
    const answer = await read(context.get(apiContext).api.file.uploads.$post(undefined, { init: { body } }));
    return {
      files: answer.items.map((file) => ({ ...showFile(file.id, file), id: file.id })),
      refused: [...answer.refused.map(({ name, reason }) => `«${name}» ${reason}`), ...refused],
    };
  } catch (error) {
    const { errors, detail } = refusalIn(error, [401, 404]);
    return { files: [], refused: [...Object.values(errors ?? { files: detail }), ...refused] };
  }
}

/**
 * Keeps the files and the page that a form names as documents. Returns the form's result if all of them were refused. Otherwise sets a
 * flash that says what was kept and what was not, and returns undefined.
 */
export async function keepDocuments(context: Context, to: Record<string, string>): Promise<FormResult | undefined> {
  const address = textOf(context.get(formContext), "address").trim();
  const { files, refused } = await uploadFiles(context, { ...to, ...(address && { address }) });
  if (files.length === 0) {
    const field = address && context.get(filesContext).length === 0 ? "address" : "files";
    const nothing = "Elige algún archivo, o escribe la dirección de una página.";
    return { values: { address }, errors: { [field]: refused.join(" ") || nothing } };
  }
  const title = files.length === 1 ? `«${files[0]?.name}» está guardado.` : `${files.length} archivos guardados.`;
  const untold = files
    .filter(({ unread }) => unread)
    .map(({ name }) => `«${name}» no tiene texto que leer, ni escrito ni en imágenes.`);
  const reading = files
    .filter((file) => file.reading)
    .map(({ name }) => `«${name}» es largo y se sigue leyendo: en su página se ve cuándo está.`);
  const description = [...refused, ...untold, ...reading].join(" ");
  context
    .get(sessionContext)
    .flash(description ? { type: "warning", title, description, duration: 0 } : { type: "success", title });
}

/** The files that a draft or form names, without those that no longer exist. */
export async function attachedFiles(context: Context, ids: string[]): Promise<ComposerFile[]> {
  const { api } = context.get(apiContext);
  const found = await Promise.all(
    ids.map(async (id) => {
      const file = await read(api.file[":id"].$get({ param: { id } })).catch(whenStatus(404, undefined));
      return file ? [{ ...showFile(file.id, file), id: file.id }] : [];
    }),
  );
  return found.flat();
}
