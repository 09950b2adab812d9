/** A symbol of the sprite in `public/icons.svg`; without a label it is decoration. */
export function Icon({ name, label }: { name: string; label?: string }) {
  return (
    <>
      <svg className="icon" aria-hidden="true">
        <use href={`/icons.svg#${name}`} />
      </svg>
      {label && <span className="sr-only">{label}</span>}
    </>
  );
}
