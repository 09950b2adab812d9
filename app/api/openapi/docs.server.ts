import { html, raw } from "hono/html";
import type { OpenApiDocument } from "./openapi.server.ts";

/** The API's document as a page to be read: no script, one style sheet. */
export function docsPage(document: OpenApiDocument) {
  const calls = Object.entries(document.paths ?? {}).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method, operation, noun: nounOf(path) })),
  );
  const nouns = [...new Set(calls.map(({ noun }) => noun))].sort();
  const sections = nouns.map((noun) => {
    const own = calls.filter((call) => call.noun === noun).map(showCall);
    return html`<section aria-labelledby="${noun}"><h2 id="${noun}">${noun}</h2>${own}</section>`;
  });
  const contents = nouns.map((noun) => html`<li><a href="#${noun}">${noun}</a></li>`);
  // Entities here and below: the build does not escape non-ASCII letters in tagged templates, and they cost memory (vite.config.ts).
  return html`<!doctype html><html lang="es"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="dark"><title>API</title><link rel="stylesheet" href="/docs.css"></head><body><main><h1>La API</h1>${raw(intro)}<nav aria-label="Contenido"><ul>${contents}</ul></nav>${sections}</main></body></html>`;
}

const intro = `<p>Todas las direcciones empiezan por <code>/v1</code>. Cada llamada lleva <code>Authorization: Bearer …</code> con una clave de tu cuenta o con el token que da <code>POST /auth/signin</code>, que vale 15 minutos y se renueva con <code>POST /auth/refresh</code>.</p>
<p>Las listas admiten <code>q</code> (texto), <code>filter</code> y <code>sort</code> (objetos JSON), <code>limit</code> (100 como mucho) y <code>cursor</code>, y contestan <code>items</code>, <code>nextCursor</code> y <code>total</code>. Los errores son <code>application/problem+json</code>: <code>detail</code> dice qué pasa y <code>errors</code>, campo por campo. Lo leído lleva <code>ETag</code> y admite <code>If-None-Match</code>; un cambio con <code>If-Match</code> no pisa el de otra persona; y lo que se crea con <code>Idempotency-Key</code> se crea una vez, aunque se envíe dos. Cada respuesta lleva <code>X-Request-Id</code>; las de llamadas con límite, <code>RateLimit-Limit</code>, <code>RateLimit-Remaining</code> y <code>RateLimit-Reset</code> (segundos), y un 429 dice en <code>Retry-After</code> cuándo volver.</p>
<p>Con cualquier cliente de OpenAI: dirección <code>…/v1</code>, una clave de tu cuenta, y los modelos de <code>GET /models</code>. El documento OpenAPI está en <a href="/v1/api/openapi.json">/v1/api/openapi.json</a>.</p>`;

const nounOf = (path: string) => path.replace(/^\/(?:api\/)?([^/]*).*$/, "$1");

type Call = { path: string; method: string; operation: NonNullable<OpenApiDocument["paths"]>[string][string] };

function showCall({ path, method, operation }: Call) {
  const id = `${method}${path.replace(/[^\w]+/g, "-")}`;
  const parameters = (operation.parameters ?? []).map(
    ({ name, in: where, required, description, schema }) =>
      html`<tr><th scope="row"><code>${name}</code></th><td>${where === "path" ? "dirección" : "consulta"}${required ? ", obligatorio" : ""}</td><td>${description ?? schema?.description}</td></tr>`,
  );
  const table = parameters.length > 0 ? html`<table><tbody>${parameters}</tbody></table>` : "";
  const body = Object.entries(operation.requestBody?.content ?? {}).map(
    ([type, { example }]) => html`<h4>Se env&iacute;a (${type})</h4>${sample(example)}`,
  );
  const answers = Object.entries(operation.responses)
    .filter(([status]) => status.startsWith("2"))
    .map(([status, { description = "", content = {} }]) => {
      const [example] = Object.values(content).map((one) => one.example);
      return html`<h4>Contesta ${status}</h4><p>${description}</p>${sample(example)}`;
    });
  return html`<article id="${id}"><h3><code>${method.toUpperCase()} ${path}</code></h3>${table}${body}${answers}</article>`;
}

const sample = (example: unknown) =>
  example === undefined ? "" : html`<pre tabindex="0">${JSON.stringify(example, null, 2)}</pre>`;
