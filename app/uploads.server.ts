import { openAsBlob } from "node:fs";
import type { RouterContextProvider } from "react-router";
import { ApiProblem, read } from "./answers.server.ts";
import { apiContext, filesContext, sessionContext } from "./context.ts";
import type { FormResult } from "./form.server.ts";
import { limits } from "./limits.ts";
import { type ShownFile, showFile } from "./shown-file.server.ts";

export type AttachedFile = ShownFile & { id: string };
/** `refused`: a sentence for each file that was not taken. */
export type Uploaded = { files: AttachedFile[]; refused: string[] };

/** Hands the files of a form on to the API; no more than `room` of them. */
export async function uploadFiles(
  context: Readonly<RouterContextProvider>,
  to: { temporary?: string; projectId?: string },
  room = Number.POSITIVE_INFINITY,
): Promise<Uploaded> {
  const sent = context.get(filesContext);
  const taken = sent.slice(0, room);
  const refused = sent
    .slice(room)
    .map(({ name }) => `«${name}» no cabe: un mensaje puede llevar ${limits.filesPerMessage} archivos como mucho.`);
  if (taken.length === 0) return { files: [], refused };
  const files = await Promise.all(taken.map(async ({ name, path }) => new File([await openAsBlob(path)], name)));
  try {
    const answer = await read(context.get(apiContext).api.file.uploads.$post({ form: { ...to, files } } as never));
    return {
      files: answer.items.map((file) => ({ ...showFile(file.id, file), id: file.id })),
      refused: [...answer.refused.map(({ name, reason }) => `«${name}» ${reason}`), ...refused],
    };
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.status === 401 || error.status === 404) throw error;
    return { files: [], refused: [...Object.values(error.body.errors ?? { files: error.body.detail }), ...refused] };
  }
}

/** What a form shows whose files were all refused; otherwise says what was kept and what was not, and answers nothing. */
export function refusedOrSaid(
  context: Readonly<RouterContextProvider>,
  { files, refused }: Uploaded,
): FormResult | undefined {
  if (files.length === 0) return { values: {}, errors: { files: refused.join(" ") || "Elige algún archivo." } };
  const title = files.length === 1 ? `«${files[0]?.name}» está guardado.` : `${files.length} archivos guardados.`;
  const untold = files
    .filter(({ unread }) => unread)
    .map(({ name }) => `«${name}» no tiene texto que leer: parece escaneado.`);
  const description = [...refused, ...untold].join(" ");
  context
    .get(sessionContext)
    .flash(description ? { type: "warning", title, description, duration: 0 } : { type: "success", title });
}

/** The files that are still there of those that a draft or form names. */
export async function attachedFiles(context: Readonly<RouterContextProvider>, ids: string[]): Promise<AttachedFile[]> {
  const { api } = context.get(apiContext);
  const found = await Promise.all(
    ids.map(async (id) => {
      try {
        const file = await read(api.file[":id"].$get({ param: { id } }));
        return [{ ...showFile(file.id, file), id: file.id }];
      } catch (error) {
        if (error instanceof ApiProblem && error.status === 404) return [];
        throw error;
      }
    }),
  );
  return found.flat();
}
