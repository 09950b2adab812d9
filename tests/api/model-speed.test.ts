import { expect, test } from "vitest";
import { tellSpeed } from "../../app/api/models/ask-once.server.ts";

test("gives model speed in tokens per second only when measurable", () => {
  expect(tellSpeed(50, 2000)).toBe(25);
  expect(tellSpeed(10, 3000)).toBe(3.3);
  expect(tellSpeed(5, 30)).toBeNull();
  expect(tellSpeed(0, 2000)).toBeNull();
});
