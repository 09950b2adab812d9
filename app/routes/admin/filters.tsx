import { Form } from "react-router";
import { limits } from "../../limits.ts";
import { Icon } from "../../ui/icon.tsx";

type Props = {
  q: string;
  searches: string;
  filters: { name: string; label: string; choices: Record<string, string>; value: string }[];
  /** What came by a link and has no field. */
  kept: [name: string, value: string | boolean][];
  choosable: { name: string; label: string; shown: boolean }[];
  size: string;
  sizes: string[];
};

/** What a list is asked for: a form whose answer has an address. */
export function Filters({ q, searches, filters, kept, choosable, size, sizes: offered }: Props) {
  return (
    <Form className="filters" role="search" preventScrollReset>
      {kept.map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={String(value)} />
      ))}
      <div className="field">
        <label htmlFor="q">Buscar</label>
        <input
          className="input"
          type="search"
          id="q"
          name="q"
          size={24}
          maxLength={limits.search}
          defaultValue={q}
          placeholder={searches}
        />
      </div>
      {[
        ...filters,
        { name: "filas", label: "Filas", value: size, choices: Object.fromEntries(offered.map((n) => [n, n])) },
      ].map(({ name, label, value, choices }) => (
        <div className="field" key={name}>
          <label htmlFor={`f-${name}`}>{label}</label>
          <span className="select">
            <select className="input" id={`f-${name}`} name={name} defaultValue={value}>
              {name !== "filas" && <option value="">Todos</option>}
              {Object.entries(choices).map(([choice, said]) => (
                <option key={choice} value={choice}>
                  {said}
                </option>
              ))}
            </select>
            <Icon name="chevron" />
          </span>
        </div>
      ))}
      <details className="more">
        <summary>Columnas</summary>
        <div className="checks">
          {choosable.map(({ name, label, shown }) => (
            <label className="check" key={name}>
              <input type="checkbox" name="col" value={name} defaultChecked={shown} />
              <span>{label}</span>
            </label>
          ))}
        </div>
      </details>
      <button className="button" type="submit">
        Filtrar
      </button>
    </Form>
  );
}
