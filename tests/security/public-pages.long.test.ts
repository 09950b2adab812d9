import { expect, it } from "vitest";
import { inOwnNetwork, mayUnshare } from "../support/public-address.ts";

it.runIf(mayUnshare)("pages are fetched only from public addresses, within limits", () => {
  const { results, inside } = inOwnNetwork<{ results: Record<string, object>; inside: number }>("public-pages.ts");
  const length = expect.any(Number);
  const notPublic = { error: "Esa dirección no es pública: solo se leen páginas de internet." };
  expect(results).toMatchObject({
    "/": { length },
    "/aqui": { url: "http://93.184.215.14/", length },
    "/comprimida": { length },
    "/dentro": notPublic,
    "/dentro-ipv6": notPublic,
    "/vueltas": { error: "Esa página lleva de una dirección a otra sin acabar nunca." },
    "/nada": { error: "Esa página no existe (404)." },
    "/bomba": { length: 1024 * 1024 },
    "/lenta": { error: expect.stringMatching(/abort|timeout/i) },
  });
  expect(inside).toBe(0);
});
