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
