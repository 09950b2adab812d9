/**
 * Passes a text on line by line, each as `change` gives it. `end`: what comes after the last line. A line is held until it is whole.
 */
export function changedLines(
  change: (line: string) => string,
  end: () => string = () => "",
): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let held = "";
  return new TransformStream({
    transform(bytes, controller) {
      const piece = decoder.decode(bytes, { stream: true });
      const end = piece.lastIndexOf("\n");
      // A long line is put together once, not looked through again with each piece.
      if (end < 0) {
        held += piece;
        return;
      }
      const lines = (held + piece.slice(0, end)).split("\n");
      held = piece.slice(end + 1);
      controller.enqueue(encoder.encode(`${lines.map(change).join("\n")}\n`));
    },
    flush(controller) {
      const rest = held + decoder.decode();
      const last = (rest ? change(rest) : "") + end();
      if (last) controller.enqueue(encoder.encode(last));
    },
  });
}
