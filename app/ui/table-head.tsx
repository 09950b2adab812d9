type Props = {
  /** Names of the columns of text, which come first. */
  texts: string[];
  /** Names of the columns of figures, which follow. */
  numbers?: string[];
  /** Whether a last column holds what can be done with a row. */
  actions?: boolean;
};

/** The head of a table. */
export function TableHead({ texts, numbers = [], actions }: Props) {
  return (
    <thead>
      <tr>
        {texts.map((name) => (
          <th key={name} scope="col">
            {name}
          </th>
        ))}
        {numbers.map((name) => (
          <th key={name} scope="col" className="num">
            {name}
          </th>
        ))}
        {actions && (
          <th scope="col">
            <span className="sr-only">Acciones</span>
          </th>
        )}
      </tr>
    </thead>
  );
}
