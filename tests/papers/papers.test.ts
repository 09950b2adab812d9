import { describe, expect, it } from "vitest";
import { answers, hidden, isPicture, papers, questions, readPaper, says } from "./reading.ts";

describe("a paper of an office answers what a clerk asks", () => {
  it.each(papers.filter((name) => !isPicture(name)))("%s", async (name) => {
    const text = await readPaper(name);
    if (text === undefined) return expect(name).toMatch(/\.zip$/);
    const asked = questions.filter(({ file, gap }) => file === name && !gap);
    expect(asked.filter((question) => !answers(text, question))).toEqual([]);
    expect((hidden[name] ?? []).filter((words) => says(text, words))).toEqual([]);
    expect(text.trim()).not.toBe("");
  });
});
