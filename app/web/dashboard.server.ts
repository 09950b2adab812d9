import { read } from "./api-result.server.ts";
import { apiContext, type Context } from "./context.ts";

const ask = (context: Context) => read(context.get(apiContext).api.dashboard.initialize.$get());
const asked = new WeakMap<Context, ReturnType<typeof ask>>();

/** Data that the pages behind the sign-in share. Asked once a request, however many loaders want to know. */
export function dashboardOf(context: Context): ReturnType<typeof ask> {
  const before = asked.get(context);
  if (before) return before;
  const answer = ask(context);
  asked.set(context, answer);
  return answer;
}
