const encoder = new TextEncoder();

/** Text as it is asked for: nothing is read ahead of the reader, and a reader that leaves ends the source. */
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

// Proxies cut a connection that says nothing for a minute; slow models take longer to begin.
const pause = 15_000;

/** What a source brings, and `undefined` for each long pause in between. */
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
