import { useState } from "react";
import { Form, Link } from "react-router";
import { DashboardPage } from "../../ui/dashboard-page.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { titled } from "../../ui/navigation/page-title.ts";
import { read } from "../../web/api-result.server.ts";
import { apiContext } from "../../web/context.ts";
import { searchIn } from "../../web/search.server.ts";
import type { Route } from "./+types/model-choice";
import { listModels } from "./models.server.ts";

export const meta = titled("Elegir modelo");

// Up to these prices of a million written tokens, a model is cheap or of middle price.
const [cheap, middle] = [2, 15];

export async function loader({ context, url }: Route.LoaderArgs) {
  const [offered, { items }] = await Promise.all([
    listModels(context),
    read(context.get(apiContext).api.model.$get({ query: { limit: "100" } })),
  ]);
  return {
    q: searchIn(url),
    models: offered.map(({ id, name, isDefault, seesImages, local }) => {
      const model = items.find((one) => one.id === id);
      const can = [
        seesImages && "ve imágenes",
        model?.reasoning && "piensa antes de contestar",
        model?.usesTools && "usa herramientas",
        model && priceInWords(model.outputPrice),
      ];
      return { id, name, isDefault, purpose: purposeOf(model?.purpose, local), can: can.filter(Boolean).join(" · ") };
    }),
  };
}

const purposeOf = (purpose = "", local: boolean) =>
  purpose || (local ? "Busca y cita lo que has escrito y tus documentos. No es un modelo de lenguaje." : "");

function priceInWords(price: number | null): string {
  if (price === null) return "";
  if (price === 0) return "gratis";
  return price <= cheap ? "barato" : price <= middle ? "de precio medio" : "caro";
}

/** The models that a new conversation may begin with, each with its use; typing narrows the list. */
export default function ModelChoice({ loaderData: { models, q } }: Route.ComponentProps) {
  const [typed, setTyped] = useState(q);
  const words = plain(typed).split(/\s+/).filter(Boolean);
  const found = models.filter(({ name, purpose, can }) => {
    const said = plain(`${name} ${purpose} ${can}`);
    return words.every((word) => said.includes(word));
  });
  return (
    <DashboardPage width="column" up={["/conversation/chat", "Nueva conversación"]}>
      <h1>Elegir modelo</h1>
      <Form
        className="mt-4"
        role="search"
        onInput={({ target }) => target instanceof HTMLInputElement && setTyped(target.value)}
      >
        <Field name="q" label="Buscar" type="search" defaultValue={q} autoComplete="off" />
      </Form>
      {found.length === 0 && <p className="mt-4 text-text-2">Ninguno es así.</p>}
      <ul className="rows mt-5">
        {found.map(({ id, name, isDefault, purpose, can }) => (
          <li key={id} className="row">
            <div>
              <Link className="title" to={`/conversation/chat?modelo=${id}`}>
                {name}
              </Link>
              {isDefault && <span className="tag ms-2">Predeterminado</span>}
              {purpose && <p>{purpose}</p>}
              {can && <p className="line">{can}</p>}
            </div>
          </li>
        ))}
      </ul>
    </DashboardPage>
  );
}

const plain = (text: string) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
