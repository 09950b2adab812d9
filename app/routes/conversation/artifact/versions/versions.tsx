import { Leaf } from "../../../../ui/leaf.tsx";
import { named } from "../../../../ui/navigation/page-title.ts";
import { ago } from "../../../../ui/times.ts";
import { read } from "../../../../web/api-result.server.ts";
import { apiContext } from "../../../../web/context.ts";
import { requireActive, requireAuth } from "../../../../web/guards.server.ts";
import { writerWords } from "../kind-words.ts";
import type { Route } from "./+types/versions";
import { comparedWords } from "./compared-words.server.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta: Route.MetaFunction = ({ loaderData, matches }) =>
  named(matches, `Versiones de «${loaderData?.title ?? "escrito"}»`);

export async function loader({ context, params: { id }, url }: Route.LoaderArgs) {
  const one = context.get(apiContext).api.artifact[":id"];
  const number = (name: string) => /^\d{1,7}$/.exec(url.searchParams.get(name) ?? "")?.[0];
  const [before, after] = [number("de"), number("a")];
  const [artifact, { items }] = await Promise.all([
    read(one.$get({ param: { id }, query: {} })),
    read(one.versions.$get({ param: { id } })),
  ]);
  const textOf = async (version: string) => (await read(one.$get({ param: { id }, query: { version } }))).text;
  const now = Date.now();
  return {
    id,
    title: artifact.title,
    versions: items.map((version) => ({
      n: version.n,
      previous: items.some(({ n }) => n === version.n - 1) ? version.n - 1 : undefined,
      line: `${ago(version.createdAt, now)}, de ${writerWords(version)}, ${version.length.toLocaleString("es")} letras`,
      reason: version.reason,
    })),
    compared:
      before && after ? { before, after, pieces: comparedWords(await textOf(before), await textOf(after)) } : undefined,
  };
}

/** List of an artifact's versions; with two in the address, also their comparison by words. */
export default function Versions({ loaderData: { id, title, versions, compared } }: Route.ComponentProps) {
  const here = `/conversation/escrito/${id}`;
  return (
    <Leaf back={[here, "Volver al escrito"]} title={`Versiones de «${title}»`}>
      {compared && (
        <section className="mt-6" aria-labelledby="comparadas">
          <h2 id="comparadas">
            De la versión {compared.before} a la {compared.after}
          </h2>
          <div className="words mt-3" dir="auto">
            {compared.pieces.map(({ kind, text }, n) => {
              const Mark = kind === "added" ? "ins" : kind === "removed" ? "del" : "span";
              // biome-ignore lint/suspicious/noArrayIndexKey: they never change places
              return <Mark key={n}>{text}</Mark>;
            })}
          </div>
        </section>
      )}
      <ol className="rows mt-6" reversed start={versions[0]?.n}>
        {versions.map(({ n, previous, line, reason }) => (
          <li key={n} className="row">
            <div>
              <a className="title" href={n === versions[0]?.n ? here : `${here}?version=${n}`}>
                Versión {n}
              </a>
              <p className="line">
                {line}
                {reason && `: «${reason}»`}
              </p>
            </div>
            {previous && (
              <span className="end">
                <a className="action" href={`${here}/versiones?de=${previous}&a=${n}`}>
                  Ver qué cambió<span className="sr-only"> en la versión {n}</span>
                </a>
              </span>
            )}
          </li>
        ))}
      </ol>
      {versions.length > 2 && (
        <form className="buttons mt-6" action={`${here}/versiones`}>
          <label>
            Comparar la versión{" "}
            <input className="input" name="de" size={4} inputMode="numeric" pattern="\d{1,7}" required />
          </label>{" "}
          <label>
            con la <input className="input" name="a" size={4} inputMode="numeric" pattern="\d{1,7}" required />
          </label>{" "}
          <button type="submit" className="button">
            Comparar
          </button>
        </form>
      )}
    </Leaf>
  );
}
