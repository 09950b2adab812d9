import { useActionData } from "react-router";
import { z } from "zod";
import { Callout } from "../../../ui/callout.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { Wordmark } from "../../../ui/wordmark.tsx";
import { read, refusalIn } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import type { Route } from "./+types/connect";
import { answerTo, askedIn } from "./connect.server.ts";
import { LeadingOut } from "./leading-out.tsx";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta = titled("Conectar un programa");

export async function loader({ context, url }: Route.LoaderArgs) {
  const asked = askedIn(url);
  if ("refusal" in asked) return asked;
  const { client_id, redirect_uri, onlyReads } = asked;
  try {
    const { consent } = context.get(apiContext).auth.oauth;
    const program = await read(consent.$get({ query: { client_id, redirect_uri } }));
    return { ...program, onlyReads, email: (await requireUser(context)).user.email };
  } catch (error) {
    const { errors = {}, detail } = refusalIn(error);
    return { refusal: Object.values(errors)[0] ?? detail };
  }
}

const fields = z.object({ scope: z.enum(["read", "write"]).default("read"), gives: z.string().optional() });

export const action = ({ context, url }: Route.ActionArgs) =>
  sendFields(context, fields, async ({ scope, gives }) => {
    const asked = askedIn(url);
    // The loader shows the refusal.
    if ("refusal" in asked) return null;
    const { client_id, redirect_uri, code_challenge, onlyReads } = asked;
    const { consent } = context.get(apiContext).auth.oauth;
    if (!gives) {
      // Throws if `redirect_uri` is not registered for the program: the refusal would be an open redirect.
      await read(consent.$get({ query: { client_id, redirect_uri } }));
      return { answer: answerTo(asked, url.origin, { error: "access_denied" }), connected: false };
    }
    const json = { client_id, redirect_uri, code_challenge, scope: onlyReads ? ("read" as const) : scope };
    const { code } = await read(consent.$post({ json }));
    return { answer: answerTo(asked, url.origin, { code }), connected: true };
  });

export default function Connect({ loaderData }: Route.ComponentProps) {
  return (
    <main className="entry" id="contenido">
      <Wordmark />
      {"refusal" in loaderData ? <NotAsked sentence={loaderData.refusal} /> : <Asked {...loaderData} />}
    </main>
  );
}

function NotAsked({ sentence }: { sentence: string }) {
  return (
    <>
      <h1>No se puede conectar</h1>
      <p>{sentence}</p>
      <p className="text-text-2">Vuelve al programa y empieza otra vez desde allí.</p>
    </>
  );
}

type Program = { name: string; host: string; onlyReads: boolean; email: string };

function Asked({ name, host, onlyReads, email }: Program) {
  const result = useActionData<typeof action>();
  if (result && "answer" in result) return <Answered {...result} host={host} />;
  const refusals = result ? [result.message, ...Object.values(result.errors)].filter(Boolean) : [];
  return (
    <>
      <h1 className="break-words">Conectar {name}</h1>
      <p className="mb-4">
        Un programa que dice llamarse «{name}» pide usar tus conversaciones, proyectos y documentos, y los modelos de
        aquí con tus herramientas y tus cuentas conectadas, como si fueras tú (
        <span className="break-words">{email}</span>). Después vuelves a <strong className="break-words">{host}</strong>
        .
      </p>
      <Callout type="warning">
        <p>El nombre lo pone el programa y nadie lo ha comprobado. Sigue solo si acabas de pedirlo tú.</p>
      </Callout>
      {refusals.map((sentence) => (
        <Callout key={sentence} type="error">
          <p>{sentence}</p>
        </Callout>
      ))}
      <PostForm className="fields mt-6">
        {onlyReads ? (
          <p>Solo podrá leer.</p>
        ) : (
          <fieldset className="flex flex-col gap-2">
            <legend>Podrá</legend>
            {/* Each choice stands on a line of its own, also in text browsers. */}
            <div>
              <label className="check">
                <input type="radio" name="scope" value="write" defaultChecked />
                <span>Leer, escribir y preguntar a los modelos; lo que gaste cuenta en tu plan</span>
              </label>
            </div>
            <div>
              <label className="check">
                <input type="radio" name="scope" value="read" />
                <span>Solo leer</span>
              </label>
            </div>
          </fieldset>
        )}
        <p className="text-text-2">Vale medio año. Lo ves y lo terminas cuando quieras en Seguridad, «Programas».</p>
        <div className="buttons">
          <button type="submit" className="button primary" name="gives" value="1">
            Conectar
          </button>{" "}
          <button type="submit" className="button">
            No conectar
          </button>
        </div>
      </PostForm>
    </>
  );
}

type Given = { answer: string; connected: boolean; host: string };

function Answered({ answer, connected, host }: Given) {
  return (
    <>
      <h1>{connected ? "Conectado" : "No se ha conectado"}</h1>
      <p>{connected ? "Falta volver al programa, que ya puede entrar." : "El programa no puede entrar."}</p>
      <LeadingOut to={answer}>{`Volver a ${host}`}</LeadingOut>
    </>
  );
}
