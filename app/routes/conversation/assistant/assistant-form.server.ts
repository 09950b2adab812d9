import { limits } from "../../../process/limits.ts";
import { read, refusalIn } from "../../../web/api-result.server.ts";
import { apiContext, type Context, formContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { type FormResult, textOf } from "../../../web/forms/form.server.ts";
import { typedFields } from "../../../web/forms/unsent-form.server.ts";
import { groupChoices } from "../../../web/groups.server.ts";
import { listModels } from "../models.server.ts";

/** Choices in the form of an assistant. `groupIds`: groups that it is for, also those that are gone. */
export async function choicesFor(context: Context, groupIds: string[] | null = null) {
  const { api } = context.get(apiContext);
  const { user } = await requireUser(context);
  const own = { filter: JSON.stringify({ userId: user.id }), limit: String(limits.assistantFiles) };
  const [models, tools, files] = await Promise.all([
    listModels(context),
    read(api.tool.$get({ query: { filter: JSON.stringify({ enabled: true }), limit: String(limits.listMax) } })),
    read(api.file.$get({ query: own })),
  ]);
  return {
    models: models.filter(({ local }) => !local).map(({ id, name }) => ({ id, name })),
    tools: tools.items.map(({ id, name }) => ({ id, name })),
    files: files.items.filter(({ mediaType }) => !mediaType.startsWith("image/")).map(({ id, name }) => ({ id, name })),
    mayShare: user.role === "admin",
    groups: user.role === "admin" ? await groupChoices(context, groupIds ?? []) : [],
  };
}

/** The body for the API, out of the form's fields. */
export async function assistantIn(context: Context) {
  const form = context.get(formContext);
  const temperature = textOf(form, "temperature").replace(",", ".").trim();
  const chosen = (name: string) => form.getAll(name).filter((value) => typeof value === "string");
  const { tools } = await choicesFor(context);
  const toolIds = chosen("toolIds");
  return {
    name: textOf(form, "name"),
    purpose: textOf(form, "purpose"),
    instructions: textOf(form, "instructions"),
    modelId: textOf(form, "modelId") || null,
    temperature: temperature === "" ? null : Number(temperature),
    // All tools marked: null means future tools as well.
    toolIds: tools.every(({ id }) => toolIds.includes(id)) ? null : toolIds,
    fileIds: chosen("fileIds"),
    beginnings: textOf(form, "beginnings")
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean),
    shared: textOf(form, "shared") === "1",
    groupIds: chosen("groupIds").length > 0 ? chosen("groupIds") : null,
  };
}

/** The form's state after the API has refused it; throws other errors. */
export function refusalOf(context: Context, error: unknown): { result: FormResult; status: number } {
  const { errors = {}, detail, status } = refusalIn(error, [404]);
  const shown = Object.fromEntries(
    Object.entries(errors).map(([name, sentence]) => [name.replace(/\.\d+$/, ""), sentence]),
  );
  const message = Object.keys(shown).length === 0 ? { message: detail } : {};
  return { result: { values: typedFields(context.get(formContext)), errors: shown, ...message }, status };
}
