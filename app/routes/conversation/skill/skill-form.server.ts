import { z } from "zod";
import { type Context, formContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { groupChoices } from "../../../web/groups.server.ts";

/** Fields of a skill as they are typed. */
export const skillForm = z.object({
  name: z.string().default(""),
  description: z.string().default(""),
  content: z.string().default(""),
  shared: z
    .string()
    .default("")
    .transform((value) => value === "1"),
});

/** Groups that were marked; null if none is marked, which means everybody. */
export function groupsIn(context: Context): string[] | null {
  const marked = context
    .get(formContext)
    .getAll("groupIds")
    .filter((id) => typeof id === "string");
  return marked.length > 0 ? marked : null;
}

/** Groups that a thing can be shared with, if the person may share it. `groupIds`: groups that it is for, including those that are gone. */
export async function sharingChoices(context: Context, groupIds: string[] | null = null) {
  const { user } = await requireUser(context);
  const mayShare = user.role === "admin";
  return { mayShare, groups: mayShare ? await groupChoices(context, groupIds ?? []) : [] };
}
