/** Limits on a request body. */
export type BodyBounds = {
  /** In bytes. */
  maxSize: number;
  /** Network that the request comes from; set if nobody is signed in. */
  stranger?: string | undefined;
};

/** A body that was not read to its end, and why. The caller chooses the sentence. */
export class BodyRefused extends Error {
  override name = "BodyRefused";
  readonly reason: "large" | "slow" | "many";
  constructor(reason: BodyRefused["reason"]) {
    super(reason);
    this.reason = reason;
  }
}

// In ms. Longest pause within a body; a real sender is never silent for so long, not even with two seconds of latency.
const stallOfStranger = 5_000;
const stallOfPerson = 30_000;
// A stranger's body may take `strangerBegins` ms, plus a second for every `strangerBytesPerSecond` bytes.
const strangerBegins = 8_000;
const strangerBytesPerSecond = 16_000;

// Most unfinished bodies of strangers from one network; a household behind one address has fewer. A further body takes the place of the
// oldest one, so that slow bodies don't keep out others at the same address; a form comes whole in less than `comesWithin` ms.
const ofStrangers = 20;
const comesWithin = 1_000;
type Body = { begun: number; giveWay: PromiseWithResolvers<never> };
const unfinished = new Map<string, Set<Body>>();

function enter(network: string): Body {
  const bodies = unfinished.get(network) ?? new Set();
  const [oldest] = bodies;
  if (oldest && bodies.size >= ofStrangers) {
    if (Date.now() - oldest.begun < comesWithin) throw new BodyRefused("many");
    leave(network, oldest);
    oldest.giveWay.reject(new BodyRefused("slow"));
  }
  const body = { begun: Date.now(), giveWay: Promise.withResolvers<never>() };
  // Nobody may be waiting for the promise when it rejects.
  body.giveWay.promise.catch(() => {});
  unfinished.set(network, bodies.add(body));
  return body;
}

function leave(network: string, body: Body): void {
  const bodies = unfinished.get(network);
  bodies?.delete(body);
  if (bodies?.size === 0) unfinished.delete(network);
}

/**
 * The bytes of a request's body as they come, within bounds. Nothing is read before the first chunk is asked for.
 * Throws BodyRefused for a body that is too large or stalls, or a stranger's whose place a newer body of its network takes.
 */
export async function* boundedBody(request: Request, { maxSize, stranger }: BodyBounds): AsyncGenerator<Uint8Array> {
  if (Number(request.headers.get("Content-Length") ?? 0) > maxSize) throw new BodyRefused("large");
  if (!request.body) return;
  const own = stranger === undefined ? undefined : enter(stranger);
  const reader = request.body.getReader();
  const begun = Date.now();
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await within(
        reader.read(),
        patience(begun, size, own !== undefined),
        own?.giveWay.promise,
      );
      if (done) return;
      size += value.length;
      if (size > maxSize) throw new BodyRefused("large");
      yield value;
    }
  } catch (error) {
    // The rest is discarded by the server (server.ts).
    if (error instanceof BodyRefused) void reader.cancel(error).catch(() => {});
    throw error;
  } finally {
    if (own && stranger !== undefined) leave(stranger, own);
  }
}

/** How long the next bytes may take, in ms. */
function patience(begun: number, size: number, isStranger: boolean): number {
  if (!isStranger) return stallOfPerson;
  const left = begun + strangerBegins + (size / strangerBytesPerSecond) * 1000 - Date.now();
  return Math.max(0, Math.min(stallOfStranger, left));
}

async function within<Result>(work: Promise<Result>, ms: number, over?: Promise<never>): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new BodyRefused("slow")), ms);
  try {
    return await Promise.race([...(over ? [over] : []), work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
