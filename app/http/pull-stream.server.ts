const encoder = new TextEncoder();

/** A stream that pulls: it reads nothing ahead of its reader, and ends the source when the reader leaves. */
export function pullStream(pieces: AsyncGenerator<string>, onLeave?: () => unknown): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      async cancel() {
        await onLeave?.();
      },
    },
    { highWaterMark: 0 },
  );
}

// In ms. Proxies close connections after a minute of silence, and slow models take longer to begin.
const pause = 15_000;

/** The items of a source, with `undefined` for each long pause in between. */
export async function* withPauses<Item>(source: AsyncGenerator<Item>): AsyncGenerator<Item | undefined> {
  let next = source.next();
  for (;;) {
    const timer = Promise.withResolvers<undefined>();
    const timeout = setTimeout(timer.resolve, pause, undefined);
    const result = await Promise.race([next, timer.promise]);
    clearTimeout(timeout);
    if (result === undefined) yield undefined;
    else if (result.done) return;
    else {
      yield result.value;
      next = source.next();
    }
  }
}
