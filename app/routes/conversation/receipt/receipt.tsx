import { renderSVG } from "uqr";
import { renderedText } from "../../../markdown/rendered.server.ts";
import { digitalSource } from "../../../process/text/digital-source.ts";
import { sourcesInWords } from "../../../process/text/sources-in-words.ts";
import { Icon } from "../../../ui/icon.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import type { Route } from "./+types/receipt";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta = titled("Recibo de una respuesta");

export async function loader({ context, params: { messageId }, url }: Route.LoaderArgs) {
  const one = context.get(apiContext).api.message[":id"];
  const param = { id: messageId };
  const [receipt, message, { user }] = await Promise.all([
    read(one.receipt.$get({ param })),
    read(one.$get({ param })),
    requireUser(context),
  ]);
  const address = `${url.origin}/recibo?r=${receipt.receipt}`;
  return {
    ...receipt,
    address,
    when: new Date(receipt.at).toLocaleString("es", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" }),
    answer: message.content,
    html: await renderedText(`receipt:${messageId}`, message.content, { docId: messageId }, user.id),
    // The code is scanned from paper, at some distance.
    picture: renderSVG(address, { border: 2 }).replace("<svg", '<svg role="img" aria-label="Código QR del recibo"'),
    titles: message.sources.map(({ n, title }) => ({ n, title })),
  };
}

/** A question and its answer with a receipt, to be printed or passed on. */
export default function Receipt({ loaderData }: Route.ComponentProps) {
  const { house, when, model, question, answer, html, sources, titles, address, picture } = loaderData;
  return (
    <main className="leaf printed" id="contenido">
      <h1>Recibo de una respuesta</h1>
      <p className="mt-3">
        {house} firma que {model} contestó esto el {when} (UTC), {sourcesInWords(sources)}. Cualquiera puede comprobarlo
        en la dirección de abajo, sin cuenta: la firma dice si un texto es este, no si es verdad ni qué se habló antes.
      </p>
      <article>
        <h2>Pregunta</h2>
        <p className="whitespace-pre-wrap">{question}</p>
      </article>
      <article data-digital-source-type={digitalSource.generated}>
        <h2>Respuesta</h2>
        {/* Safe: made by our own Markdown, which has no HTML of others. */}
        <div className="prose" dangerouslySetInnerHTML={{ __html: html }} />
      </article>
      {titles.length > 0 && (
        <article>
          <h2>Fuentes</h2>
          <ol>
            {titles.map(({ n, title }) => (
              <li key={n}>
                [{n}] {title}
              </li>
            ))}
          </ol>
        </article>
      )}
      <article>
        <h2>Comprobarlo</h2>
        {/* Safe: drawn here from an address of ours. */}
        <div className="receipt-code" dangerouslySetInnerHTML={{ __html: picture }} />
        <p className="mt-3 break-all">
          <a href={address}>{address}</a>
        </p>
        <details className="more mt-3">
          <summary>
            La respuesta tal cual, para pegarla allí <Icon name="chevron" />
          </summary>
          <pre className="mt-2 whitespace-pre-wrap break-words">{answer}</pre>
        </details>
      </article>
    </main>
  );
}
