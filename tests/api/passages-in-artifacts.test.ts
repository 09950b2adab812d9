import { expect, it } from "vitest";
import { findPassage } from "../../app/artifacts/passage.server.ts";

it("finds passages in long text despite different spaces and punctuation", () => {
  const text = `${"Una frase cualquiera. ".repeat(20_000)}Dijo «sí» y\u00a0“no” — sin más.`;
  const found = findPassage(text, 'y "no" - sin  más.'.replace("  ", "\n"));
  expect(found?.count).toBe(1);
  expect(text.slice(found?.start, found?.end)).toBe("y\u00a0“no” — sin más.");
  expect(findPassage(text, "Esto no está en el texto.")).toBeUndefined();
});
