import { type Context, sessionContext } from "./context.ts";
import { getCurrentUser } from "./current-user.server.ts";
import { getHouse } from "./house.server.ts";
import { lightChoiceOf } from "./light/choice.server.ts";

// While the API can't be reached, pages show that, without the name of the house.
const unknown = { name: "", accent: null, logo: null, icon: null };

/** Data of the root, which every page has. */
export async function loadRoot({ context, request }: { context: Context; request: Request }) {
  const session = context.get(sessionContext);
  const [person, { name, accent, logo, icon }] = await Promise.all([
    getCurrentUser(context),
    getHouse(context).catch(() => unknown),
  ]);
  return {
    formToken: session.formToken,
    flash: session.takeFlash(),
    personId: person?.user.id ?? null,
    lightChoice: await lightChoiceOf(request),
    house: { name, accent, logo, icon },
  };
}
