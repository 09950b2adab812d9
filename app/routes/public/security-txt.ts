import type { Route } from "./+types/security-txt";

const day = 24 * 60 * 60_000;

/** Contact for faults of security (RFC 9116): the installation's support form. */
export function loader({ url }: Route.LoaderArgs) {
  // The standard wants a date within a year; a reader fetches the file again after that date.
  const expires = new Date(Math.ceil(Date.now() / day) * day + 180 * day).toISOString();
  const lines = [
    "# Un fallo de seguridad se cuenta aquí en privado: qué versión, qué pasos y qué ocurre.",
    "# Se contesta en una semana. No lo publiques antes de que haya una corrección.",
    `Contact: ${url.origin}/soporte`,
    `Expires: ${expires}`,
    "Preferred-Languages: es, en",
    `Canonical: ${url.origin}/.well-known/security.txt`,
  ];
  return new Response(`${lines.join("\n")}\n`, { headers: { "Content-Type": "text/plain; charset=utf-8" } });
}
