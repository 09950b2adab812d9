import { z } from "@hono/zod-openapi";
import { limits } from "../../../process/limits.ts";
import { isObject, objects } from "./imported-chat.server.ts";

const id = z.string().max(100);
const short = z.string().max(200);
const project = z.object({
  id,
  name: z.string().min(1).max(limits.name),
  description: z.string().max(limits.projectDescription).catch(""),
  instructions: z.string().max(limits.projectInstructions).catch(""),
});
const template = z.object({
  id,
  title: z.string().min(1).max(limits.chatTitle),
  content: z.string().min(1).max(limits.templateContent),
});
/** A list that is a column of JSON. */
const list = z.string().transform((text, context): string[] => {
  try {
    return z.array(z.string()).parse(JSON.parse(text));
  } catch {
    context.addIssue("No list");
    return z.NEVER;
  }
});
const assistant = z.object({
  id,
  name: z.string().min(1).max(limits.name),
  purpose: z.string().max(limits.assistantPurpose).catch(""),
  instructions: z.string().max(limits.projectInstructions).catch(""),
  modelId: id.nullable().catch(null),
  temperature: z.number().min(0).max(2).nullable().catch(null),
  fileIds: list.catch([]),
  beginnings: list.catch([]),
});
const schedule = z.object({
  id,
  content: z.string().min(1).max(limits.message),
  modelId: id.nullable().catch(null),
  assistantId: id.nullable().catch(null),
  days: z.string().regex(/^\[(?:[1-7](?:,[1-7])*)?\]$/),
  monthDay: z.number().int().min(1).max(31).nullable(),
  time: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/),
  zone: short,
  tells: z.literal([0, 1]).catch(0),
  enabled: z.literal([0, 1]).catch(0),
});
const file = z.object({ id, name: z.string().min(1).max(limits.fileName), projectId: id.nullable().catch(null) });

/** Things of an account beside its chats, as `datos.json` of somebody's data has them. */
export type ImportedAccount = {
  projects: z.output<typeof project>[];
  templates: z.output<typeof template>[];
  assistants: z.output<typeof assistant>[];
  schedules: z.output<typeof schedule>[];
  files: z.output<typeof file>[];
};

/** Reads `datos.json`. A row that does not fit is left out; undefined if it is another file. */
export function readAccount(data: unknown): ImportedAccount | undefined {
  if (!isObject(data) || !isObject(data.user) || !Array.isArray(data.projects)) return undefined;
  const rows = <Schema extends z.ZodType>(name: string, schema: Schema): z.output<Schema>[] =>
    objects(data[name]).flatMap((row) => {
      const read = schema.safeParse(row);
      return read.success ? [read.data] : [];
    });
  return {
    projects: rows("projects", project),
    templates: rows("templates", template),
    assistants: rows("assistants", assistant),
    schedules: rows("schedules", schedule),
    files: rows("files", file),
  };
}
