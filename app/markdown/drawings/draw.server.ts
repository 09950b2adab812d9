import { extname } from "node:path";
import { setTimeout } from "node:timers/promises";
import { runWorker, TooMuch } from "../../process/child-process.server.ts";
import { FairQueue } from "../../process/work/fair-queue.server.ts";
import type { DrawJob } from "./draw.worker.ts";
import type { Drawn, NoPicture, Picture } from "./drawing.server.ts";
import { type DrawingSource, longestDrawing } from "./drawing-source.server.ts";
import { drawingsIn } from "./drawings-in.server.ts";

// In ms. A picture takes some 200, most of it to load its program.
const drawnWithin = 5_000;
// In ms: how long a page waits for the sizes of its pictures; later pictures are shown without a size.
const knownWithin = 800;
// In characters of SVG, about 40 MB. A picture that is forgotten is drawn again.
const keptInAll = 20_000_000;

// Two drawings at once, at most one of them for each owner.
const queue = new FairQueue(2);
const kept = new Map<string, Picture | NoPicture>();
const waited = new Map<string, Promise<Picture | NoPicture>>();
let size = 0;

/** The picture that code draws, or why there is none. `owner`: key by which turns in the fair queue are shared. */
export function draw(source: DrawingSource, owner: string): Promise<Picture | NoPicture> {
  const { key } = source;
  const known = kept.get(key);
  if (known) {
    kept.delete(key);
    kept.set(key, known);
    return Promise.resolve(known);
  }
  const drawing =
    waited.get(key) ??
    drawAnew(source, owner)
      .then((picture) => ("passing" in picture ? picture : keep(key, picture)))
      .finally(() => waited.delete(key));
  waited.set(key, drawing);
  return drawing;
}

/** The drawings of a text by their keys; undefined for those that are not drawn soon, whose drawing goes on. */
export async function drawnIn(text: string, owner: string): Promise<ReadonlyMap<string, Drawn | undefined>> {
  const sources = drawingsIn(text);
  const drawn = new Map<string, Drawn | undefined>(sources.map(({ key }) => [key, undefined]));
  if (sources.length === 0) return drawn;
  const all = sources.map(async (source) => {
    const picture = await draw(source, owner);
    const { svg = "", ...rest } = { svg: undefined, ...picture };
    drawn.set(source.key, "problem" in rest ? rest : { ...rest, bytes: Buffer.byteLength(svg) });
  });
  const late = new AbortController();
  await Promise.race([Promise.all(all), setTimeout(knownWithin, undefined, { signal: late.signal }).catch(() => {})]);
  late.abort();
  return new Map(drawn);
}

/** `passing`: a passing problem; the code may be drawn another time, when there is more room. */
type Passing = NoPicture & { passing: true };

async function drawAnew({ kind, code }: DrawingSource, owner: string): Promise<Picture | NoPicture | Passing> {
  if (code.length > longestDrawing) return { problem: "Es demasiado largo para dibujarlo." };
  // Beside this module, both in the source and in the build.
  const program = new URL(`./draw.worker${extname(import.meta.filename)}`, import.meta.url);
  const job: DrawJob = { kind, code };
  try {
    return await queue.run(owner, () => runWorker<Picture | NoPicture>(program, job, drawnWithin));
  } catch (error) {
    // Any other failure of the program is told as well: only this picture is missing, not the page.
    const problem = error instanceof TooMuch ? "Es demasiado para dibujarlo." : "No se ha podido dibujar.";
    return { problem, passing: true };
  }
}

function keep(key: string, picture: Picture | NoPicture): Picture | NoPicture {
  kept.set(key, picture);
  size += lengthOf(picture);
  for (const [oldest, one] of kept) {
    if (size <= keptInAll) break;
    kept.delete(oldest);
    size -= lengthOf(one);
  }
  return picture;
}

const lengthOf = (picture: Picture | NoPicture) => ("svg" in picture ? picture.svg.length : 0) + 200;
