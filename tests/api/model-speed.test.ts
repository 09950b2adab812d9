import { expect, test } from "vitest";
import { tellSpeed } from "../../app/api/models/ask-once.server.ts";

test("a tried model's speed is told in tokens per second, unless it answered at once or didn't count", () => {
  expect(tellSpeed(50, 2000)).toBe(25);
  expect(tellSpeed(10, 3000)).toBe(3.3);
  expect(tellSpeed(5, 30)).toBeNull();
  expect(tellSpeed(0, 2000)).toBeNull();
});
