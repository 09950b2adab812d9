import { ReceivedForm } from "../../../http/received-form.server.ts";
import { read, refusalIn } from "../../../web/api-result.server.ts";
import { apiContext, type Context, filesContext } from "../../../web/context.ts";
import { dictated } from "../../../web/forms/uploads.server.ts";

const recordingsIn = (context: Context) => context.get(filesContext).filter(({ field }) => field === dictated);

/** Whether a recording came with the form. */
export const hasRecording = (context: Context): boolean => recordingsIn(context).some(({ size }) => size > 0);

/** Words in the recording of a form, or why they could not be written down. */
export async function transcribed(context: Context): Promise<{ text?: string; refused?: string }> {
  const body = new ReceivedForm({}, recordingsIn(context));
  try {
    return await read(context.get(apiContext).api.voice.transcriptions.$post(undefined, { init: { body } }));
  } catch (error) {
    return { refused: refusalIn(error, [401]).detail };
  }
}
