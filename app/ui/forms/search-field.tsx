import { Form } from "react-router";
import { limits } from "../../process/limits.ts";
import { Icon } from "../icon.tsx";

type Props = {
  q: string | undefined;
  label: string;
  /** Page of the results, if it is another one. */
  action?: string;
  id?: string;
  size?: number;
  autoFocus?: boolean;
  /** Other parameters of the address, which stay. */
  kept?: [name: string, value: string][];
};

/** A field that searches; its results have an address. */
export function SearchField({ q = "", label, action, id, size = 24, autoFocus, kept = [] }: Props) {
  return (
    <Form className="search" role="search" id={id} action={action} preventScrollReset>
      {kept.map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <label className="sr-only" htmlFor="q">
        {label}
      </label>
      <Icon name="search" />
      <input
        className="input"
        type="search"
        id="q"
        name="q"
        size={size}
        maxLength={limits.search}
        defaultValue={q}
        // biome-ignore lint/a11y/noAutofocus: only where searching is what the page was opened for
        autoFocus={autoFocus}
        placeholder={label}
      />{" "}
      <button className="sr-only" type="submit">
        Buscar
      </button>
    </Form>
  );
}
