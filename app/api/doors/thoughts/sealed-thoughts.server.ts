import { z } from "@hono/zod-openapi";
import { encrypt, tryDecrypt } from "../../../process/crypto.server.ts";
import { parseJson } from "../../../process/text/json.ts";
import type { ProviderMeta } from "../../../replies/tools/call.ts";
import type { ApiEnv } from "../../env.server.ts";

/** Data that a provider wants back with a thought, or with the call `callId`. */
type Sealed = { meta: ProviderMeta; callId?: string };

const json: z.ZodType<ProviderMeta> = z.record(z.string(), z.record(z.string(), z.json()));
const sealed = z.object({ meta: json, callId: z.string().optional() });

/**
 * Stand-in for a provider's signature of a thought, which goes to a program and comes back from it. It is encrypted for the person, so that
 * no text that a program has written reaches a provider as the provider's own. Text that was not made here opens as undefined.
 */
export type ThoughtSeal = { close(meta: Sealed): string; open(text: string): Sealed | undefined };

export function sealOf({
  services: { modelKey },
  person,
}: Pick<ApiEnv["Variables"], "services" | "person">): ThoughtSeal {
  const identity = `thoughts:${person.id}`;
  return {
    close: (meta) => encrypt(JSON.stringify(meta), modelKey, identity),
    open(text) {
      const opened = text ? tryDecrypt(text, modelKey, identity) : undefined;
      const { data } = sealed.safeParse(opened === undefined ? undefined : parseJson(opened));
      return data && { meta: data.meta, ...(data.callId !== undefined && { callId: data.callId }) };
    },
  };
}
