import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";

// Only where a network of one's own may be made.
const mayUnshare = spawnSync("unshare", ["--net", "true"]).status === 0;

it.runIf(mayUnshare)("pages are read from public addresses alone, wherever they lead, within bounds", () => {
  const script = join(import.meta.dirname, "../support/public-pages.ts");
  const printed = execFileSync("unshare", ["--net", process.execPath, script], { encoding: "utf8", timeout: 60_000 });
  const { results, inside } = JSON.parse(printed) as { results: Record<string, object>; inside: number };
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
