import { Form } from "react-router";
import { limits } from "../../../process/limits.ts";
import { choicesOf, Select } from "../../../ui/forms/select.tsx";
import { Icon } from "../../../ui/icon.tsx";

type Props = {
  q: string;
  searches: string;
  filters: { name: string; label: string; choices: Record<string, string>; value: string; all: string }[];
  /** Filters that came by a link and have no field. */
  kept: [name: string, value: string | boolean][];
  choosable: { name: string; label: string; shown: boolean }[];
  size: string;
  sizes: string[];
};

/** The search, filters and columns of a list: a GET form, so that every result has its own URL. */
export function Filters({ q, searches, filters, kept, choosable, size, sizes: offered }: Props) {
  const choices = Object.fromEntries(offered.map((n) => [n, n]));
  const rowsPerPage = { name: "filas", label: "Filas", value: size, choices, all: "" };
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
      <details className="more folds" open={filters.some(({ value }) => value) || undefined}>
        <summary>
          Filtros <Icon name="chevron" />
        </summary>
        {[...filters, rowsPerPage].map((filter) => (
          <Choice key={filter.name} {...filter} />
        ))}
      </details>
      <details className="more">
        <summary>
          Columnas <Icon name="chevron" />
        </summary>
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

/** `all`: label of the choice of nothing; empty: one of the choices is always made. */
function Choice({ name, label, value, choices, all }: Props["filters"][number]) {
  return (
    <div className="field">
      <label htmlFor={`f-${name}`}>{label}</label>
      <Select id={`f-${name}`} name={name} choices={choicesOf(choices)} none={all} defaultValue={value} />
    </div>
  );
}
