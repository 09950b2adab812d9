import { describe, expect, it } from "vitest";
import { answers, isPicture, papers, questions, readPaper } from "./reading.ts";

describe("a scan or a photo answers what a clerk asks", () => {
  it.each(papers.filter(isPicture))("%s", async (name) => {
    const text = (await readPaper(name)) ?? "";
    const asked = questions.filter(({ file, gap }) => file === name && !gap);
    expect(asked.filter((question) => !answers(text, question))).toEqual([]);
  });
});
