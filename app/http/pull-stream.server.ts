const encoder = new TextEncoder();

/**
 * A stream that pulls: it reads nothing ahead of its reader, and calls `onLeave` when the reader leaves before the end. `toText`:
 * makes the text that is sent for an item, for sources whose items are no texts.
 */
export function pullStream<Item>(
  source: AsyncGenerator<Item>,
  onLeave: () => unknown,
  toText: (item: Item) => string = String,
): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await source.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(toText(value)));
      },
      async cancel() {
        await onLeave();
      },
    },
    { highWaterMark: 0 },
  );
}

// In ms. Proxies close connections after a minute of silence, and slow models take longer to begin.
const pause = 15_000;

/** The items of a source, with `undefined` for each long pause in between. One timer for all, as most items are single tokens. */
export async function* withPauses<Item>(source: AsyncGenerator<Item>): AsyncGenerator<Item | undefined> {
  let change = Promise.withResolvers<void>();
  let arrived: { result: IteratorResult<Item> } | { error: unknown } | undefined;
  const ask = () =>
    void source
      .next()
      .then(
        (result) => {
          arrived = { result };
        },
        (error) => {
          arrived = { error };
        },
      )
      .then(() => change.resolve());
  const quiet = setInterval(() => change.resolve(), pause);
  try {
    ask();
    for (;;) {
      await change.promise;
      change = Promise.withResolvers();
      const next = arrived;
      arrived = undefined;
      if (!next) {
        yield undefined;
        continue;
      }
      if ("error" in next) throw next.error;
      if (next.result.done) return;
      quiet.refresh();
      yield next.result.value;
      ask();
    }
  } finally {
    clearInterval(quiet);
  }
}

// In characters.
const enoughToSend = 4_000;

/**
 * Joins small pieces, so that none is sent by itself. A joined text is never much longer than `enoughToSend`, so that a reader who does
 * not read costs no more than that.
 */
export async function* together(pieces: AsyncGenerator<string>): AsyncGenerator<string> {
  let text = "";
  for await (const piece of pieces) {
    text += piece;
    if (text.length < enoughToSend) continue;
    yield text;
    text = "";
  }
  if (text) yield text;
}
