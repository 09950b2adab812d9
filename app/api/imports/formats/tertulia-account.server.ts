import { z } from "@hono/zod-openapi";
import { limits } from "../../../process/limits.ts";
import { knownZone } from "../../../process/time-zones.server.ts";
import { isObject, objects, parsed, text } from "./imported-chat.server.ts";

// Text without characters that a database can't store.
const said = z.string().overwrite(text);
const id = said.max(100);
const project = z.object({
  id,
  name: said.min(1).max(limits.name),
  description: said.max(limits.projectDescription).catch(""),
  instructions: said.max(limits.projectInstructions).catch(""),
});
const template = z.object({
  id,
  title: said.min(1).max(limits.chatTitle),
  content: said.min(1).max(limits.templateContent),
});
/** A list of texts, stored as JSON. */
const list = z.string().transform(parsed).pipe(z.array(said));
const assistant = z.object({
  id,
  name: said.min(1).max(limits.name),
  purpose: said.max(limits.assistantPurpose).catch(""),
  instructions: said.max(limits.projectInstructions).catch(""),
  modelId: id.nullable().catch(null),
  temperature: z.number().min(0).max(2).nullable().catch(null),
  fileIds: list.catch([]),
  beginnings: list.catch([]),
});
const noDays = "[]";
const schedule = z
  .object({
    id,
    content: said.min(1).max(limits.message),
    modelId: id.nullable().catch(null),
    assistantId: id.nullable().catch(null),
    days: z.string().regex(/^\[(?:[1-7](?:,[1-7])*)?\]$/),
    monthDay: z.number().int().min(1).max(31).nullable(),
    time: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/),
    zone: z.string().refine((zone) => zone === "UTC" || knownZone(zone) !== "UTC"),
    tells: z.literal([0, 1]).catch(0),
    enabled: z.literal([0, 1]).catch(0),
    looksIn: z.literal(['["web"]', '["documents"]', '["web","documents"]']).nullable().catch(null),
  })
  .refine(({ days, monthDay }) => (days === noDays) !== (monthDay === null));
const skill = z.object({
  id,
  name: said.regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/).max(limits.skillName),
  description: said.min(1).max(limits.skillDescription),
  content: said.min(1).max(limits.skillContent),
});
const skillFile = z.object({
  skillId: id,
  path: said.min(1).max(limits.fileName),
  text: said.max(limits.skillFile),
});
const file = z.object({ id, name: said.min(1).max(limits.fileName), projectId: id.nullable().catch(null) });

/** Things of an account beside its chats, as `datos.json` of somebody's data has them. */
export type ImportedAccount = {
  projects: z.output<typeof project>[];
  templates: z.output<typeof template>[];
  assistants: z.output<typeof assistant>[];
  schedules: z.output<typeof schedule>[];
  skills: z.output<typeof skill>[];
  skillFiles: z.output<typeof skillFile>[];
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
    skills: rows("skills", skill),
    skillFiles: rows("skillFiles", skillFile),
    files: rows("files", file),
  };
}
