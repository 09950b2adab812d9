import { Link } from "react-router";
import { Meters } from "../../ui/figures/meters.tsx";
import type { accountOf } from "./account.server.ts";

/** A person's plan with what is used of it, and the replies that failed last. */
export function Account({ use, failures }: Awaited<ReturnType<typeof accountOf>>) {
  return (
    <>
      <section className="mt-7">
        <h2>Plan y uso</h2>
        <p className="plan mt-3">
          <strong>{use.plan}</strong> <span className="text-text-2">{use.since}</span>
        </p>
        <div className="mt-5">
          <Meters meters={use.meters} />
        </div>
      </section>
      <section className="mt-7">
        <h2>Últimos fallos</h2>
        {failures.length === 0 ? (
          <p className="mt-3 text-text-2">Ninguno.</p>
        ) : (
          <ul className="facts">
            {failures.map(({ id, at, error }) => (
              <li key={id}>
                <Link className="whitespace-nowrap" to={`/admin/message/${id}`}>
                  {at}
                </Link>{" "}
                {error}
              </li>
            ))}
          </ul>
        )}
      </section>
    </>
  );
}
