import type { Document } from "./openapi.server.ts";

const methods: Record<string, string> = { get: "GET", post: "POST", put: "PUT", patch: "PATCH", delete: "DELETE" };

const escapeHtml = (text: string) =>
  text.replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[letter] ?? letter);

/** The API's document as a page to be read: no script, one style sheet. */
export function docsPage(document: Document): string {
  const calls = Object.entries(document.paths ?? {}).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method, operation, noun: nounOf(path) })),
  );
  const nouns = [...new Set(calls.map(({ noun }) => noun))].sort();
  const sections = nouns.map((noun) => {
    const own = calls.filter((call) => call.noun === noun).map(showCall);
    return `<section aria-labelledby="${noun}"><h2 id="${noun}">${noun}</h2>${own.join("")}</section>`;
  });
  const contents = nouns.map((noun) => `<li><a href="#${noun}">${noun}</a></li>`).join("");
  return `<!doctype html><html lang="es"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="dark"><title>API · Tertulia</title><link rel="stylesheet" href="/docs.css"></head><body><main><h1>La API de Tertulia</h1>${intro}<nav aria-label="Contenido"><ul>${contents}</ul></nav>${sections.join("")}</main></body></html>`;
}

const intro = `<p>Todas las direcciones empiezan por <code>/v1</code>. Cada llamada lleva <code>Authorization: Bearer …</code> con una clave de tu cuenta o con el token que da <code>POST /auth/signin</code>, que vale 15 minutos y se renueva con <code>POST /auth/refresh</code>.</p>
<p>Las listas admiten <code>q</code> (texto), <code>filter</code> y <code>sort</code> (objetos JSON), <code>limit</code> (100 como mucho) y <code>cursor</code>, y contestan <code>items</code>, <code>nextCursor</code> y <code>total</code>. Los errores son <code>application/problem+json</code>: <code>detail</code> dice qué pasa y <code>errors</code>, campo por campo. Lo leído lleva <code>ETag</code> y admite <code>If-None-Match</code>; un cambio con <code>If-Match</code> no pisa el de otra persona; y lo que se crea con <code>Idempotency-Key</code> se crea una vez, aunque se envíe dos. Cada respuesta lleva <code>X-Request-Id</code>.</p>
<p>Con cualquier cliente de OpenAI: dirección <code>…/v1</code>, una clave de tu cuenta, y los modelos de <code>GET /models</code>. El documento OpenAPI está en <a href="/v1/api/openapi.json">/v1/api/openapi.json</a>.</p>`;

const nounOf = (path: string) => path.replace(/^\/api\//, "/").split("/")[1] ?? "";

type Call = { path: string; method: string; operation: NonNullable<Document["paths"]>[string][string] };

function showCall({ path, method, operation }: Call): string {
  const id = `${method}${path.replace(/[^\w]+/g, "-")}`;
  const parameters = (operation.parameters ?? []).map(
    ({ name, in: where, required, description, schema }) =>
      `<tr><th scope="row"><code>${escapeHtml(name)}</code></th><td>${where === "path" ? "dirección" : "consulta"}${required ? ", obligatorio" : ""}</td><td>${escapeHtml(description ?? schema?.description ?? "")}</td></tr>`,
  );
  const table = parameters.length > 0 ? `<table><tbody>${parameters.join("")}</tbody></table>` : "";
  const body = Object.entries(operation.requestBody?.content ?? {}).map(
    ([type, { example }]) => `<h4>Se envía (${escapeHtml(type)})</h4>${sample(example)}`,
  );
  const answers = Object.entries(operation.responses)
    .filter(([status]) => status.startsWith("2"))
    .map(([status, { description = "", content = {} }]) => {
      const [example] = Object.values(content).map((one) => one.example);
      return `<h4>Contesta ${status}</h4><p>${escapeHtml(description)}</p>${sample(example)}`;
    });
  return `<article id="${id}"><h3><code>${methods[method] ?? method} ${escapeHtml(path)}</code></h3>${table}${body.join("")}${answers.join("")}</article>`;
}

const sample = (example: unknown) =>
  example === undefined ? "" : `<pre tabindex="0">${escapeHtml(JSON.stringify(example, null, 2))}</pre>`;
