import { read } from "./api-result.server.ts";
import { apiContext, type Context } from "./context.ts";

type Voice = { hears: boolean; speaks: boolean };
const asked = new WeakMap<Context, Promise<Voice>>();

/** What there is of voice here. Asked once a request, however many loaders want to know. */
export function voiceHere(context: Context): Promise<Voice> {
  const before = asked.get(context);
  if (before) return before;
  const voice = read(context.get(apiContext).api.voice.$get());
  asked.set(context, voice);
  return voice;
}
