/** A place that security events are sent to: a collector of syslog, or an address that takes JSON. */
export type EventsDestination =
  | { kind: "syslog"; transport: "udp" | "tcp" | "tls"; host: string; port: number }
  | { kind: "webhook"; url: string; secret: string | undefined };

// UDP: RFC 5426, 3.3. TCP: RFC 6587 names no port; 601 is `syslog-conn` at IANA. TLS: RFC 5425, 4.1.
const ports = { udp: 514, tcp: 601, tls: 6514 };
const kinds = ["udp", "tcp", "tls"] as const;

const syslog = /^syslog\+(udp|tcp|tls):\/\/(\[[\da-f:]+\]|[^\s/:@[\]]+)(?::(\d{1,5}))?\/?$/i;

/** The destination in EVENTS_URL, or the sentence that it is refused with. */
export function readEventsUrl(said: string): EventsDestination | string {
  const [, transport, host, port] = syslog.exec(said) ?? [];
  const kind = kinds.find((one) => one === transport?.toLowerCase());
  if (kind && host) {
    const at = port ? Number(port) : ports[kind];
    if (at < 1 || at > 65_535) return "EVENTS_URL: el puerto va de 1 a 65535";
    return { kind: "syslog", transport: kind, host: host.replace(/[[\]]/g, ""), port: at };
  }
  const url = /^https?:\/\//.test(said) ? URL.parse(said) : null;
  if (!url?.hostname) {
    return "EVENTS_URL es syslog+tls://máquina:6514, syslog+tcp://máquina:601, syslog+udp://máquina:514 o una dirección https:// (http:// en la red propia)";
  }
  if (url.username || url.password) return "EVENTS_URL no lleva usuario ni clave: lo que va se firma con EVENTS_SECRET";
  return { kind: "webhook", url: url.href, secret: undefined };
}
