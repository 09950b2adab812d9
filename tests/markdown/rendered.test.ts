import { expect, it } from "vitest";
import { renderMarkdown } from "../../app/markdown/render.server.ts";
import { renderWithin } from "../../app/markdown/render-thread.server.ts";
import { renderedText } from "../../app/markdown/rendered.server.ts";

// A text that the grammar for Markdown goes through again from each of its brackets: more than half a second.
const tangled = (n: number) => `Texto ${n}\n\n${`\`\`\`markdown\n${"[]( [".repeat(660)}\n\`\`\`\n\n`.repeat(2)}`;
const long = `# Un título\n\n${"Una frase **fuerte**. ".repeat(300)}`;

it("one person's texts do not delay another person's text", async () => {
  let done = 0;
  const hers = Array.from({ length: 8 }, async (_, n) => {
    await renderedText(`hers-${n}`, tangled(n), {}, "ana");
    done++;
  });
  expect(await renderedText("his", long, {}, "bea")).toContain("<strong>fuerte</strong>");
  expect(done).toBeLessThan(hers.length / 2);
  await Promise.all(hers);
});

it("gives up a slow text and renders the next one", async () => {
  expect(await renderWithin(1, { source: tangled(0), env: {} })).toBeUndefined();
  expect(await renderWithin(20_000, { source: long, env: {} })).toContain("<strong>fuerte</strong>");
});

it("shows a text over the length limit as plain text", async () => {
  const endless = "- a\n  - b\n".repeat(400_000);
  const html = await renderedText("endless", endless, {}, "ana");
  expect(html.slice(0, 200)).toContain("demasiado largo");
  expect(html).toContain(endless);
});

it("links source numbers only as far as sources exist", () => {
  const html = renderMarkdown("Uno [1], dos [2], tres [3] y cero [0].", { sourcesId: "r", sources: 2 });
  expect([...html.matchAll(/href="([^"]+)"/g)].map(([, to]) => to)).toEqual(["#fuente-r-1", "#fuente-r-2"]);
  expect(renderMarkdown("Uno [1].")).toBe("<p>Uno [1].</p>\n");
});
