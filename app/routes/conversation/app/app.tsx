import { use } from "react";
import { objectOf } from "../../../process/text/json.ts";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { Leaf } from "../../../ui/leaf.tsx";
import { Light } from "../../../ui/light/light.ts";
import { named } from "../../../ui/navigation/page-title.ts";
import { read, refusalIn } from "../../../web/api-result.server.ts";
import { apiContext, formContext, nonceContext } from "../../../web/context.ts";
import { textOf } from "../../../web/forms/form.server.ts";
import { typedFields } from "../../../web/forms/unsent-form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import { SchemaInput } from "../calls/decision-form.tsx";
import { fieldName, fieldsOf, inputFrom } from "../calls/schema-fields.ts";
import type { Route } from "./+types/app";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta: Route.MetaFunction = ({ loaderData, matches }) => named(matches, loaderData?.label ?? "Aplicación");

export async function loader({ context, params: { messageId: id, n } }: Route.LoaderArgs) {
  const app = await read(context.get(apiContext).api.message[":id"].app[":n"].$get({ param: { id, n } }));
  return { ...app, fields: fieldsOf(app.schema, objectOf(app.input) ?? {}), nonce: context.get(nonceContext) };
}

type Called = {
  values: Record<string, string>;
  errors: Record<string, string>;
  message?: string;
  output?: string;
};

/** Calls the tool with the input that the person has written: by sending the form, they agree. */
export async function action({ context, params: { messageId: id, n } }: Route.ActionArgs): Promise<Called> {
  const one = context.get(apiContext).api.message[":id"].app[":n"];
  const form = context.get(formContext);
  const values = typedFields(form);
  const { tool, schema, input } = await read(one.$get({ param: { id, n } }));
  const before = objectOf(input) ?? {};
  const { input: given, errors } = inputFrom(fieldsOf(schema, before), before, (name) => textOf(form, name));
  if (Object.keys(errors).length > 0) return { values, errors };
  try {
    const json = { tool, input: JSON.stringify(given), agreed: true };
    const { text } = await read(one.call.$post({ param: { id, n }, json }));
    return { values, errors: {}, output: text };
  } catch (error) {
    const { errors: wrong = {}, detail } = refusalIn(error, [404]);
    return { values, errors: {}, message: Object.values(wrong)[0] ?? detail };
  }
}

/**
 * A call that its server has a page for (MCP Apps): with script, that page in a frame; without script, the text of the result, and a form
 * for the tool.
 */
export default function App({ loaderData, actionData, params }: Route.ComponentProps) {
  const { chatId, label, server, tool, input, output, structured, asks, fields, nonce } = loaderData;
  const light = use(Light);
  const here = `/conversation/app/${params.messageId}/${params.n}`;
  const given = { input, result: { text: output, structured }, asks, locale: "es" };
  const { values = {}, errors = {}, message, output: answered } = actionData ?? {};
  return (
    <Leaf
      back={[
        `/conversation/chat/${chatId}?mensaje=${params.messageId}#m-${params.messageId}`,
        "Volver a la conversación",
      ]}
      title={label}
    >
      <p className="mt-3 text-text-2">Es de «{server}», y lo que enseña lo han escrito otros.</p>
      {!light && (
        <div
          className="mt-6"
          hidden
          data-app-frame={JSON.stringify(given)}
          data-title={`${label}, de ${server}`}
          data-source={`${here}/marco`}
          data-call={`${here}/llamar`}
        />
      )}
      <h2 className="mt-8">{answered === undefined ? "Lo que contestó" : "Lo que contesta ahora"}</h2>
      <div className="given mt-3">
        <pre dir="auto">{(answered ?? output) || "No ha contestado nada."}</pre>
      </div>
      <h2 className="mt-8">Usarla otra vez</h2>
      <p className="mt-3 text-text-2">Lo que conteste se ve aquí, y no pasa a la conversación.</p>
      {message && (
        <p className="error" role="alert">
          {message}
        </p>
      )}
      <PostForm className="fields mt-4" data-app-call>
        {fields.map((field) => (
          <SchemaInput
            key={field.name}
            id={`dato-${field.name}`}
            field={field}
            typed={values[fieldName(field.name)]}
            error={errors[fieldName(field.name)]}
          />
        ))}
        <div className="buttons">
          <button type="submit" className="button">
            {asks.includes(tool) ? "Permitir y usar" : "Usar"}
          </button>
        </div>
      </PostForm>
      {!light && <script type="module" nonce={nonce} src="/app-frame.js" />}
    </Leaf>
  );
}
