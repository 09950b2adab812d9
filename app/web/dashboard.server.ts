import { read } from "./api-result.server.ts";
import { apiContext, type Context } from "./context.ts";

const ask = (context: Context) => read(context.get(apiContext).api.dashboard.initialize.$get());
const dashboards = new WeakMap<Context, ReturnType<typeof ask>>();

/** Data that the pages behind the sign-in share. Asked once a request, however many loaders want to know. */
export function dashboardOf(context: Context): ReturnType<typeof ask> {
  const before = dashboards.get(context);
  if (before) return before;
  const answer = ask(context);
  dashboards.set(context, answer);
  return answer;
}
