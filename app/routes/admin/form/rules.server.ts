import { apiContext, type Context } from "../../../web/context.ts";
import type { AnyAdminResource } from "../descriptions/description.ts";

/** Rules of a field as HTML attributes; `min` and `max` of a number are for our own error sentence. */
export type Rules = { type?: "email" | "url"; maxLength?: number; minLength?: number; min?: number; max?: number };

type Schema = {
  type?: string | string[];
  format?: string;
  maxLength?: number;
  minLength?: number;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  $ref?: string;
};
type Operation = { requestBody?: { content?: Record<string, { schema?: Schema }> } };
type Described = {
  paths: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema> };
};

let described: Promise<Described> | undefined;

/** The API's own description, which does not change while the process runs. */
function describedApi(context: Context): Promise<Described> {
  const { api } = context.get(apiContext) as unknown as { api: { "openapi.json": { $get(): Promise<Response> } } };
  described ??= api["openapi.json"]
    .$get()
    .then((answer) => answer.json() as Promise<Described>)
    .catch((error) => {
      described = undefined;
      throw error;
    });
  return described;
}

/** Rules of the fields of a resource by their names, as the API's description of its bodies has them. */
export async function rulesOf(context: Context, { path }: AnyAdminResource): Promise<Record<string, Rules>> {
  const { paths, components } = await describedApi(context);
  const whole = (schema: Schema = {}): Schema => {
    const name = schema.$ref?.split("/").at(-1);
    return name ? whole(components?.schemas?.[name]) : schema;
  };
  const propertiesOf = (schema: Schema): Record<string, Schema> => {
    const { properties = {}, anyOf = [], oneOf = [], allOf = [] } = whole(schema);
    return Object.assign({}, ...[...anyOf, ...oneOf, ...allOf].map(propertiesOf), properties);
  };
  const [all, one] = [paths[`/api/${path}`], paths[`/api/${path}/{id}`]];
  const operation = all?.post ?? all?.patch ?? one?.patch ?? one?.put;
  const body = operation?.requestBody?.content?.["application/json"]?.schema;
  if (!body) return {};
  return Object.fromEntries(
    Object.entries(propertiesOf(body)).map(([name, described]) => {
      const schema = whole(described);
      const given = (schema.anyOf ?? schema.oneOf)?.map(whole).find(({ type }) => type !== "null") ?? schema;
      return [name, ruleOf(given)];
    }),
  );
}

const formats: Record<string, Rules["type"]> = { email: "email", uri: "url" };

const ruleOf = ({ format = "", maxLength, minLength, minimum, maximum }: Schema): Rules => ({
  ...(formats[format] && { type: formats[format] }),
  ...(maxLength !== undefined && { maxLength }),
  ...(minLength !== undefined && minLength > 1 && { minLength }),
  ...(minimum !== undefined && { min: minimum }),
  ...(maximum !== undefined && { max: maximum }),
});
