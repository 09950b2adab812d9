import { data } from "react-router";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { read, whenStatus } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { moneyInWords } from "../../../web/plan-use-in-words.server.ts";
import { listModels } from "../models.server.ts";
import type { Route } from "./+types/sent-prompt";

export const meta = titled("Qué se envió al modelo");

export async function loader({ context, params }: Route.LoaderArgs) {
  const { api } = context.get(apiContext);
  const param = { id: params.messageId };
  const [reply, chat, models, prompt, receipt] = await Promise.all([
    read(api.message[":id"].$get({ param })),
    read(api.chat[":id"].$get({ param: { id: params.id } })),
    listModels(context),
    // Replies of older versions, and replies that were killed before their end, have no stored prompt.
    read(api.message[":id"].prompt.$get({ param })).catch(whenStatus(404, null)),
    // Stopped, changed and imported replies have no receipt.
    read(api.message[":id"].receipt.$get({ param })).catch(whenStatus(422, null)),
  ]);
  if (reply.chatId !== chat.id) throw data(null, 404);
  const model = models.find(({ id }) => id === reply.modelId)?.name ?? "el modelo";
  const { inputTokens, outputTokens, reasoningTokens, sources } = reply;
  const { cachedTokens, cost } = prompt ?? {};
  const said = (tokens: number | null) => (tokens ?? 0).toLocaleString("es");
  const thought = reasoningTokens ? `, de ellos ${said(reasoningTokens)} de razonamiento` : "";
  const kept = cachedTokens ? ` (${said(cachedTokens)} los tenía ya guardados)` : "";
  const tokens = inputTokens
    ? `El proveedor contó ${said(inputTokens)} tokens de entrada${kept} y ${said(outputTokens)} de salida${thought}.`
    : "";
  return {
    title: chat.title,
    model,
    tokens: cost ? `${tokens} Ha costado ${moneyInWords(cost)}.` : tokens,
    prompt,
    hasReceipt: receipt !== null,
    sources: sources.map(({ n, title, quote }) => ({ n, title, quote })),
  };
}

export default function SentPrompt({ loaderData, params }: Route.ComponentProps) {
  const { title, model, tokens, prompt, hasReceipt, sources } = loaderData;
  const back = `/conversation/chat/${params.id}?mensaje=${params.messageId}#m-${params.messageId}`;
  const empty = prompt?.parts.length === 0 && prompt.turns.length === 0;
  return (
    <DashboardPage width="document" up={[back, title]}>
      <h1>Qué se envió al modelo</h1>
      <p className="text-text-2">
        {!prompt && "De esta respuesta no se guardó: es anterior a que se guardara, o se cortó antes de terminar."}
        {empty && "El asistente local no recibe instrucciones: busca y cita. Encontró lo que sigue."}
        {prompt && !empty && `Esto, y nada más, recibió ${model}, en este orden. ${tokens}`}
      </p>
      {hasReceipt && (
        <p>
          <a href={`/conversation/recibo/${params.messageId}`}>Recibo de la respuesta</a>, firmado, para imprimirlo o
          pasarlo.
        </p>
      )}
      {prompt?.pseudonyms && (
        <p className="text-text-2">
          Con seudónimos: las marcas como [DNI 1] están en lugar de los identificadores, que no salieron de aquí. Oculta
          identificadores, no historias: nombres, imágenes y lo que cuenta el texto fueron tal cual.
        </p>
      )}
      {prompt && prompt.searched.length > 0 && (
        <p className="text-text-2">
          Las palabras de la pregunta encontraban poco en los documentos. Antes se le pidió que la dijera de otra
          manera, y también se buscó: {prompt.searched.map((words) => `«${words}»`).join(", ")}.
        </p>
      )}
      {empty && <Quotes sources={sources} />}
      {prompt && prompt.parts.length > 0 && (
        <section aria-labelledby="sistema">
          <h2 id="sistema">Instrucción del sistema</h2>
          {prompt.parts.map(({ title: name, text }) => (
            <Given key={name} id={anchorOf(name)} name={name} text={text} />
          ))}
        </section>
      )}
      {prompt && prompt.turns.length > 0 && (
        <section aria-labelledby="mensajes">
          <h2 id="mensajes">Mensajes</h2>
          {prompt.tools.length > 0 && <p>Se le ofrecieron estas herramientas: {prompt.tools.join(", ")}.</p>}
          {prompt.turns.map(({ role, content, images, title: own }, index) => (
            <Given
              id={own ? anchorOf(own) : undefined}
              // biome-ignore lint/suspicious/noArrayIndexKey: a list that never changes
              key={index}
              name={`${own ?? whose[role]}${images > 0 ? `, con ${images === 1 ? "una imagen" : `${images} imágenes`}` : ""}`}
              text={content}
            />
          ))}
        </section>
      )}
    </DashboardPage>
  );
}

const whose = { user: "Persona", assistant: "Respuesta", tool: "Herramienta" };

function Quotes({ sources }: { sources: { n: number; title: string; quote: string }[] }) {
  return sources.map(({ n, title, quote }) => (
    <Given key={n} id={`fuente-${n}`} name={`[${n}] ${title}`} text={quote} />
  ));
}

const anchorOf = (name: string) => name.toLowerCase().replace(/\s+/g, "-");

function Given({ id, name, text }: { id?: string | undefined; name: string; text: string }) {
  return (
    <section className="given" id={id}>
      <h3>{name}</h3>
      <pre tabIndex={-1}>{text}</pre>
    </section>
  );
}
