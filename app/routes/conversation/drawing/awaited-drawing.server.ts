import { setTimeout } from "node:timers/promises";
import { drawingResponse } from "../../../markdown/drawings/drawing-response.server.ts";

// In ms. The page of a reply that is being written may show text that is not stored yet.
const lookEvery = 250;
const lookFor = 5_000;

/** The texts of a message, and whether more text is being written. */
type Texts = { texts: string[]; isGrowing: boolean };

/** The picture of this key in the message that `look` reads; looks again while the message grows. Throws 404. `owner`: as in `draw`. */
export async function awaitedDrawing(
  request: Request,
  key: string,
  owner: string,
  look: () => Promise<Texts | undefined>,
): Promise<Response> {
  for (let waited = 0; ; waited += lookEvery) {
    const { texts, isGrowing } = (await look()) ?? { texts: [], isGrowing: false };
    const picture = await drawingResponse(texts, key, { request, owner });
    if (picture) return picture;
    if (!isGrowing || waited >= lookFor || request.signal.aborted) throw new Response(null, { status: 404 });
    await setTimeout(lookEvery, undefined, { signal: request.signal }).catch(() => {});
  }
}
