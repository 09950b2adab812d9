import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { criteria, unmet } from "../../app/routes/public/accessibility/criteria.server.ts";
import { readable } from "../support/browser.ts";
import { startServer } from "../support/server.ts";

const root = join(import.meta.dirname, "../..");
const report = readFileSync(join(root, "docs/accesibilidad.md"), "utf8");

it("the report covers each WCAG 2.2 AA criterion with evidence", () => {
  expect(criteria).toHaveLength(55);
  expect(new Set(criteria.map(({ id }) => id)).size).toBe(55);
  for (const { id, name, tests = [], person, absent } of criteria) {
    expect(report).toContain(`| ${id} | `);
    expect([id, name, tests.length > 0 || Boolean(person) || Boolean(absent)]).toEqual([id, name, true]);
    for (const file of tests) {
      expect([file, existsSync(join(root, file))]).toEqual([file, true]);
      expect(report).toContain(file);
    }
  }
});

it("the statement matches the report on unmet and manual criteria", async () => {
  const server = await startServer();
  const answer = await fetch(`${server.url}/accesibilidad`);
  const html = await answer.text();
  const text = readable(html);
  await server.stop();
  expect(answer.status).toBe(200);
  expect(html).not.toContain("<script");
  expect(text).toContain("parcialmente conforme");
  for (const sentence of unmet) {
    expect(text).toContain(sentence);
    expect(report).toContain(sentence);
  }
  for (const { person } of criteria) if (person) expect(text).toContain(person);
});
