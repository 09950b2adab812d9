import { z } from "zod";
import { limits } from "../../../process/limits.ts";
import { sourcesInWords } from "../../../process/text/sources-in-words.ts";
import { Callout } from "../../../ui/callout.tsx";
import { TextField } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { named } from "../../../ui/navigation/page-title.ts";
import { Wordmark } from "../../../ui/wordmark.tsx";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import type { Route } from "./+types/check-receipt";

export const meta: Route.MetaFunction = ({ matches }) => [
  ...named(matches, "Comprobar un recibo"),
  { name: "robots", content: "noindex" },
];

type Context = Route.LoaderArgs["context"];
const check = async (context: Context, json: { receipt: string; question?: string; answer?: string }) => {
  const { claims, ...checked } = await read(context.get(apiContext).api.receipt.check.$post({ json }));
  const when =
    claims && new Date(claims.at).toLocaleString("es", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });
  return { ...checked, claims: claims && { ...claims, when } };
};

export async function loader({ context, url }: Route.LoaderArgs) {
  const receipt = url.searchParams.get("r")?.slice(0, 4_000) ?? "";
  return { receipt, checked: receipt ? await check(context, { receipt }) : undefined };
}

const fields = z.object({
  receipt: z.string().default(""),
  question: z.string().default(""),
  answer: z.string().default(""),
});

export const action = ({ context }: Route.ActionArgs) =>
  sendFields(context, fields, async ({ receipt, question, answer }) => ({
    values: { receipt, question, answer },
    errors: {},
    checked: await check(context, { receipt: receipt.trim(), question, answer }),
  }));

/** Checks whether a receipt is of this house, and whether texts are those of the receipt. Needs no account. */
export default function CheckReceipt({ loaderData, actionData }: Route.ComponentProps) {
  const result = actionData ?? undefined;
  const checked = result && "checked" in result ? result.checked : loaderData.checked;
  return (
    <main className="leaf" id="contenido">
      <p className="mt-6 mb-8">
        <Wordmark />
      </p>
      <h1>Comprobar un recibo</h1>
      <p className="mt-3 text-text-2">
        Un recibo dice que una respuesta salió de aquí, de qué modelo y cuándo; no dice si es verdad. Pega la pregunta o
        la respuesta tal cual, como las da «Copiar» o el recibo, para saber si son esas: solo dan igual los espacios y
        los saltos de línea. No se guarda nada.
      </p>
      {checked && (
        <div className="mt-6">
          <Outcome checked={checked} />
        </div>
      )}
      <PostForm className="fields mt-6" action="/recibo">
        <Fields id="recibo" result={result}>
          <TextField
            name="receipt"
            label="Recibo"
            defaultValue={loaderData.receipt}
            rows={4}
            required
            maxLength={4_000}
          />
          <TextField name="question" label="Pregunta" rows={3} maxLength={limits.reply} />
          <TextField name="answer" label="Respuesta" rows={8} maxLength={limits.reply} />
        </Fields>
        <div className="buttons">
          <button type="submit" className="button primary">
            Comprobar
          </button>
        </div>
      </PostForm>
    </main>
  );
}

type Checked = NonNullable<Route.ComponentProps["loaderData"]["checked"]>;

function Outcome({ checked: { valid, claims, question, answer } }: { checked: Checked }) {
  if (!valid || !claims) {
    return (
      <Callout type="warning">
        <p>Este recibo no lo ha firmado esta casa, lo firmó con una clave anterior, o algo ha cambiado en él.</p>
      </Callout>
    );
  }
  const { house, model, when, sources } = claims;
  const texts = [
    [question, "La pregunta"],
    [answer, "La respuesta"],
  ] as const;
  return (
    <Callout type={question === false || answer === false ? "warning" : "info"}>
      <p>
        Es de {house}: lo contestó {model} el {when} (UTC), {sourcesInWords(sources)}.
      </p>
      {texts.map(
        ([same, name]) =>
          same !== null && (
            <p key={name}>
              {name}{" "}
              {same
                ? "es la del recibo."
                : "no es la del recibo: falta, sobra o cambia algo. Si se ha copiado de la página o del papel, faltan los signos del formato: pega el texto tal cual."}
            </p>
          ),
      )}
    </Callout>
  );
}
