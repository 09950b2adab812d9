import { Link } from "react-router";
import type { costsInWords } from "./costs.server.ts";

/** Costs of the person's replies by month, and the conversations of this month that have cost most. */
export function Costs({ months, chats }: NonNullable<ReturnType<typeof costsInWords>>) {
  return (
    <div className="stack">
      <dl className="use">
        {months.map(({ month, name, tokens, cost }) => (
          <div key={month}>
            <dt>{name}</dt>{" "}
            <dd>
              {cost} <span className="text-text-2">({tokens} tokens)</span>
            </dd>
          </div>
        ))}
      </dl>
      {chats.length > 0 && (
        <>
          <h3>Las conversaciones que más han costado este mes</h3>
          <ul className="rows">
            {chats.map(({ id, title, said, cost }) => (
              <li key={id} className="row">
                <div>
                  <p className="title">
                    <Link to={`/conversation/chat/${id}`}>{title}</Link>
                  </p>
                  <p className="line">{said}</p>
                </div>
                <p>{cost}</p>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
