import { objectOf } from "../../../process/text/json.ts";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import type { Route } from "./+types/calls";
import { callWords, outcomeWords, timeWords } from "./call-words.ts";

export const meta = titled("Herramientas usadas");

/** All that tools were called with for a reply, and all that they have answered. */
export async function loader({ context, params }: Route.LoaderArgs) {
  const { api } = context.get(apiContext);
  const reply = await read(api.message[":id"].$get({ param: { id: params.messageId } }));
  const chat = await read(api.chat[":id"].$get({ param: { id: reply.chatId } }));
  const calls = reply.parts.flatMap((part) =>
    part.kind === "tool"
      ? {
          n: part.n,
          words: callWords(part),
          input: JSON.stringify(objectOf(part.input) ?? {}, null, 1),
          output: part.output,
          outcome: [outcomeWords(part.status), timeWords(part.ms)].filter(Boolean).join(" "),
        }
      : [],
  );
  return { title: chat.title, back: `/conversation/chat/${chat.id}?mensaje=${reply.id}#m-${reply.id}`, calls };
}

export default function Calls({ loaderData: { title, back, calls } }: Route.ComponentProps) {
  return (
    <DashboardPage width="document" up={[back, title]}>
      <h1>Herramientas usadas</h1>
      <p className="text-text-2">
        {calls.length > 0
          ? "Con qué se llamó a cada herramienta y qué contestó, tal como lo recibió el modelo. Es texto de otros: compruébalo."
          : "El modelo escribió esta respuesta sin usar ninguna herramienta."}
      </p>
      {calls.map(({ n, words, input, output, outcome }) => (
        <section className="given" key={n} id={`llamada-${n}`}>
          <h2>{words}</h2>
          {outcome && <p>{outcome}</p>}
          <h3>Datos</h3>
          <pre tabIndex={-1}>{input}</pre>
          {output && (
            <>
              <h3>Resultado</h3>
              <pre tabIndex={-1}>{output}</pre>
            </>
          )}
        </section>
      ))}
    </DashboardPage>
  );
}
