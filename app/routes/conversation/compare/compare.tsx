import { data, redirect } from "react-router";
import { z } from "zod";
import { digitalSource } from "../../../process/text/digital-source.ts";
import { Callout } from "../../../ui/callout.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { Leaf } from "../../../ui/leaf.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { dashboardOf } from "../../../web/dashboard.server.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import { listModels } from "../models.server.ts";
import { LiveReply } from "../reply/live-reply.tsx";
import { ReplyParts } from "../reply/reply-parts.tsx";
import type { Route } from "./+types/compare";
import { showAnswers } from "./answers.server.tsx";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta = titled("Comparar respuestas");

export async function loader({ context, params, request }: Route.LoaderArgs) {
  const { api } = context.get(apiContext);
  const [chat, question, models, { aiNotice }] = await Promise.all([
    read(api.chat[":id"].$get({ param: { id: params.id } })),
    read(api.message[":id"].$get({ param: { id: params.messageId } })),
    listModels(context),
    dashboardOf(context),
  ]);
  if (question.chatId !== chat.id || question.role !== "user") throw data(null, 404);
  const pending = chat.compared?.parentId === question.id ? chat.compared : null;
  const nameOf = (id: string | null) => models.find((model) => model.id === id)?.name ?? "Asistente";
  return {
    chatId: chat.id,
    question: question.content,
    aiNotice,
    answers: await showAnswers(context, request, chat, question.id, nameOf, pending !== null),
    pending: pending?.problem ? [] : (pending?.modelIds.map(nameOf) ?? []),
    problem: pending?.problem ?? undefined,
  };
}

const fields = z.object({ versionId: z.string().default("") });

export const action = ({ context, params: { id } }: Route.ActionArgs) =>
  sendFields(context, fields, async (json) => {
    await accepted(context.get(apiContext).api.chat[":id"].$patch({ param: { id }, json }));
    return redirect(`/conversation/chat/${id}`, 303);
  });

/** Answers of several models to one question, side by side; without script, as they grow one after another. */
export default function Compare({ loaderData, actionData }: Route.ComponentProps) {
  const { chatId, question, aiNotice, answers, pending, problem } = loaderData;
  const isBetween = pending.length > 0 && answers.every(({ marker }) => marker === undefined);
  const refusal = actionData && "message" in actionData ? actionData.message : problem;
  return (
    <Leaf
      back={[`/conversation/chat/${chatId}`, "Volver a la conversación"]}
      title="Comparar respuestas"
      look="compared"
    >
      <p className="asked">{question}</p>
      <p className="mt-3 text-text-2">{aiNotice}</p>
      {refusal && (
        <Callout type="warning">
          <p>{refusal}</p>
        </Callout>
      )}
      <div className="columns">
        {/* Pending answers stand first in the document, which ends with the growing answer; on the page they stand last. */}
        {pending.map((name) => (
          <section key={name} className="later" aria-labelledby={`de-${name}`}>
            <h2 id={`de-${name}`}>{name}</h2>
            <p className="text-text-2">Contesta después.</p>
          </section>
        ))}
        {answers.map(({ id, name, marker, parts, error, written }) => (
          <article key={id} aria-labelledby={`de-${id}`} data-digital-source-type={digitalSource.generated}>
            <h2 id={`de-${id}`}>{name}</h2>
            {marker === undefined ? <ReplyParts parts={parts} /> : <LiveReply messageId={id} marker={marker} />}
            {error && <p className="text-text-2">{error}</p>}
            {marker === undefined && written && (
              <PostForm className="mt-5">
                <input type="hidden" name="versionId" value={id} />
                <button type="submit" className="button">
                  Seguir con esta<span className="sr-only">, de {name}</span>
                </button>
              </PostForm>
            )}
          </article>
        ))}
        {/* One answer has ended, and the next one has not begun. */}
        {isBetween && <meta httpEquiv="refresh" content="2" />}
      </div>
    </Leaf>
  );
}
