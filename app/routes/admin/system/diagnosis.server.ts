import { setTimeout as wait } from "node:timers/promises";
import type { Client } from "../../../web/api-client.server.ts";
import { accepted, read } from "../../../web/api-result.server.ts";

export type Check = { good: boolean; text: string };
type Mark = { line: number; at: number };
/** Observations of a diagnosis: when each line was written, and when the browser asked for the picture that stands in it. */
export type Diagnosis = { id: string; checks: Check[]; written: Mark[]; received: Mark[]; ended: Mark[] };

const lines = 10;
const lineEvery = 300;
// Time that a line may take to the browser and back; a proxy that gathers 4 kB or waits for the end takes longer.
const late = 800;
const lastReceipts = 2_000;
const lookEvery = 100;

/** Begins a diagnosis with the checks of a form; returns its id. */
export const beginDiagnosis = async ({ api }: Client, checks: Check[]): Promise<string> =>
  (await read(api.system.diagnosis.$post({ json: { checks } }))).id;

export const findDiagnosis = ({ api }: Client, id: string): Promise<Diagnosis> =>
  read(api.system.diagnosis[":id"].$get({ param: { id } }));

/** Says that a line was written, that a browser has seen it, or that all has been written. */
export const noteLine = ({ api }: Client, id: string, kind: "written" | "received" | "ended", line: number) =>
  accepted(api.system.diagnosis[":id"].marks.$post({ param: { id }, json: { kind, line } }));

/** The slow page: a line at a time, each with a picture that tells when the line was seen, then the verdict. */
export async function* writeLines(client: Client, id: string): AsyncGenerator<string> {
  yield `<div class="prose"><ol>`;
  for (let line = 0; line < lines; line++) {
    await noteLine(client, id, "written", line);
    const clock = new Date().toISOString().slice(11, 21).replace(".", ",");
    yield `<li>Escrita a las ${clock} UTC<img src="/admin/sistema/diagnostico/${id}/acuse/${line}" width="1" height="1" alt=""></li>`;
    await wait(lineEvery);
  }
  yield "</ol></div>";
  const until = Date.now() + lastReceipts;
  let seen = await findDiagnosis(client, id);
  while (seen.received.length > 0 && seen.received.length < lines && Date.now() < until) {
    await wait(lookEvery);
    seen = await findDiagnosis(client, id);
  }
  await noteLine(client, id, "ended", 0);
  const { good, text } = verdictOf(await findDiagnosis(client, id));
  yield `<p role="status" class="callout mt-4 ${good ? "good" : "warn"}">${text}</p>`;
}

/** Findings of the receipts about the way between this server and the browser. */
export function verdictOf({ written, received, ended }: Diagnosis): Check {
  const endedAt = ended[0]?.at ?? Number.POSITIVE_INFINITY;
  const writtenAt = new Map(written.map(({ line, at }) => [line, at]));
  const delays = received.map(({ line, at }) => at - (writtenAt.get(line) ?? at)).sort((a, b) => a - b);
  const usual = delays[Math.floor(delays.length / 2)];
  if (usual === undefined) {
    return {
      good: false,
      text: "El navegador no ha dicho cuándo vio cada línea. Si han salido una a una, todo está bien; si han salido todas de golpe, un proxy retiene la página hasta el final, o este navegador no carga imágenes hasta tenerla. Recarga para saber más.",
    };
  }
  const seconds = (usual / 1000).toLocaleString("es", { maximumFractionDigits: 2 });
  if (received.every(({ at }) => at >= endedAt)) {
    return { good: false, text: `Un proxy retiene la página hasta el final. ${advice}` };
  }
  return usual > late
    ? { good: false, text: `Las líneas llegan tarde, a los ${seconds} s de escribirse: un proxy las junta. ${advice}` }
    : { good: true, text: `Nada retiene las páginas: cada línea se vio a los ${seconds} s de escribirse.` };
}

const advice = "En nginx, quita `proxy_buffering` y `gzip` para esta dirección; en otros, lo que se llame «buffering».";

/** Facts that a form's headers give about the proxies in front of this server. `ip`: the address that this server takes as the client's. */
export function checkHeaders(headers: Headers, url: URL, ip: string): Check[] {
  const forwarded = (name: string) => headers.get(`X-Forwarded-${name}`)?.split(",")[0]?.trim();
  const [protocol, host, address] = [forwarded("Proto"), forwarded("Host"), forwarded("For")];
  const trust = "pon TRUST_PROXY=1.";
  const checks: (Check | false | "" | undefined)[] = [
    headers.has("Origin")
      ? { good: true, text: "El navegador dice de dónde viene cada formulario (Origin), y llega." }
      : {
          good: !headers.has("Sec-Fetch-Site"),
          text: headers.has("Sec-Fetch-Site")
            ? "Algo quita la cabecera Origin de los formularios: sin ella solo los protege su código."
            : "Este navegador no envía Origin; sus formularios se reconocen por su código.",
        },
    protocol && {
      good: `${protocol}:` === url.protocol,
      text:
        `${protocol}:` === url.protocol
          ? `El proxy dice que la conexión es ${protocol}, y se le cree.`
          : `El proxy dice que la conexión es ${protocol}, pero este servidor no le cree: ${trust}`,
    },
    host &&
      host !== url.host && {
        good: false,
        text: `El proxy dice que la dirección es ${host} y aquí consta ${url.host}: ${trust}`,
      },
    address && {
      good: address === ip,
      text:
        address === ip
          ? "Cada visita se cuenta por su dirección."
          : `Todas las visitas parecen venir de ${ip}, que es el proxy, y comparten límites: ${trust}`,
    },
    !protocol && !host && !address && { good: true, text: "Ningún proxy dice estar delante." },
    !headers.has("Accept-Encoding") && {
      good: false,
      text: "No llega Accept-Encoding: las páginas van sin comprimir, y pesan cinco veces más.",
    },
    url.protocol === "http:" &&
      !/^(localhost|127\.|\[::1\])/.test(url.host) && {
        good: false,
        text: "La conexión es http: cualquiera que esté en la misma red puede leerla. Pon un proxy con HTTPS delante.",
      },
  ];
  return checks.filter((check) => typeof check === "object");
}
