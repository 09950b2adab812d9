import { describe, expect, it } from "vitest";
import * as busy from "../../app/ui/navigation/busy.tsx";
import * as seen from "../../app/ui/navigation/pages-seen.ts";
import * as revisits from "../../app/ui/navigation/revisits.tsx";
import * as viewport from "../../app/ui/navigation/viewport.ts";
import * as toast from "../../app/ui/overlays/toast.tsx";

const minute = 60_000;

/** The figures that were promised. Their behaviour in a browser is in tests/e2e. */
const figures: [what: string, ours: unknown, seeds: unknown][] = [
  ["a toast is shown for, ms", toast.shownFor, 5000],
  ["a toast's countdown ticks every, ms", toast.tick, 50],
  ["a toast leaves in, ms", toast.leavesIn, 300],
  ["a form that is sent covers its page after, ms", busy.throttle, 200],
  ["a page seen may be shown for, ms", seen.freshFor, 15 * minute],
  ["a page seen is kept after its last use for, ms", seen.keptFor, 5 * minute],
  ["pages fetched ahead at the same time", revisits.slots.length, 4],
  ["breakpoints", viewport.breakpoints, { "2xl": 1536, xl: 1280, lg: 1024, md: 768, sm: 640, xs: 320 }],
  ["the breakpoint of anything else", viewport.fallback, "lg"],
  ["the viewport cookie lives, s", viewport.lives, 365 * 24 * 60 * 60],
  ["words of the leave guard", busy.cannotLeave, "No puedes salir mientras esta procesando."],
];

describe("figures", () => {
  it.each(figures)("%s: %j", (_what, ours, seeds) => {
    expect(ours).toEqual(seeds);
  });
});
