import { expect, it } from "vitest";
import { inOwnNetwork, mayUnshare } from "../support/public-address.ts";

type Printed = { taken: Record<string, object>; found: { passages: object[] }; kept: string };

// Only where a network of one's own may be made: pages are taken from public addresses alone.
it.runIf(mayUnshare)("saves a web page as a document by its address", () => {
  const { taken, found, kept } = inOwnNetwork<Printed>("pages-as-documents.ts");
  const refused = (reason: string | RegExp) => ({ detail: expect.stringMatching(reason) });
  const guide = { name: "Préstamos de la biblioteca guía normas.html", state: "ready", hasText: true };
  expect(taken).toMatchObject({
    "/guia": { items: [{ ...guide, address: "http://93.184.215.14/guia" }], refused: [] },
    "/notas": { items: [{ name: "notas.txt", mediaType: "text/plain" }] },
    "/descargas/contrato%20de%20alquiler?version=2": {
      items: [{ name: "contrato de alquiler.pdf", mediaType: "application/pdf", state: "ready" }],
    },
    "/dentro": refused(/^«http.*» no se puede guardar: esa dirección no es pública/),
    "/guion": refused("no tiene texto que leer: puede que esa página solo funcione con un script"),
    "/grabacion": refused("es una grabación"),
    "/enorme": refused("pesa más de 20 MB"),
    "/nada": refused("no se puede guardar: esa página no existe \\(404\\)"),
    "sin esquema": refused("no se puede guardar: el servidor de esa página no acepta conexiones"),
    "sin permiso": refused("aquí no puedes leer páginas de internet"),
  });
  // It has moved there, and is the same.
  expect(taken["/mudada"]).toEqual(taken["/guia"]);
  expect(kept).toContain("<h2>Sanciones</h2>");
  expect(kept).not.toMatch(/Agenda|script/);
  expect(found.passages[0]).toMatchObject({ text: expect.stringContaining("Retraso | diez céntimos al día") });
});
