export type Access = { id: string; name: string };

type Props = {
  accesses: Access[];
  volver: string;
  /** An unsent form waits on this page: the provider opens in another tab. */
  apart?: boolean;
};

/** «Entrar con …», one for each provider. Links, because a form may not lead to another site (CSP). */
export function Accesses({ accesses, volver, apart = false }: Props) {
  if (accesses.length === 0) return null;
  const query = volver && `?volver=${encodeURIComponent(volver)}`;
  return (
    <div className="accesses">
      {accesses.map(({ id, name }) => (
        <a key={id} className="button" href={`/auth/entrar/${id}${query}`} {...(apart && { target: "_blank" })}>
          Entrar con {name}
        </a>
      ))}
    </div>
  );
}
