import { blankField, blanksIn, filledIn } from "../../process/text/blanks.ts";
import { read } from "../../web/api-result.server.ts";
import { apiContext, type Context } from "../../web/context.ts";

/**
 * Beginning of a new chat, by its address: an assistant (`?asistente=`); a template (`?plantilla=`) whose blanks have still to be filled
 * in, or the template's text with its blanks filled in.
 */
export async function beginOf(context: Context, url: URL) {
  const { api } = context.get(apiContext);
  const { searchParams } = url;
  const [assistantId, templateId] = [searchParams.get("asistente"), searchParams.get("plantilla")];
  const [assistant, template] = await Promise.all([
    assistantId ? read(api.assistant[":id"].$get({ param: { id: assistantId } })) : undefined,
    templateId ? read(api.template[":id"].$get({ param: { id: templateId } })) : undefined,
  ]);
  const blanks = template ? blanksIn(template.content) : [];
  const isFilled = blanks.length === 0 || searchParams.has("rellena");
  return {
    assistant: assistant && {
      id: assistant.id,
      name: assistant.name,
      purpose: assistant.purpose,
      beginnings: assistant.beginnings,
    },
    template: template && !isFilled ? { id: template.id, title: template.title, blanks } : undefined,
    text:
      template && isFilled
        ? filledIn(template.content, (name) => searchParams.get(blankField(name)) || null)
        : undefined,
  };
}
