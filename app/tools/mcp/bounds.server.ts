/** Bounds of the work that a server can cause over one connection. Bytes are bounded where they come in (`boundedFetch`). */

// Most messages within `within` ms: each message costs the thread some 30 µs, and no server at work sends as many.
const messagesAtMost = 2_000;
const within = 10_000;

/** Counts the messages of a connection. The answer is false once there are too many, and from then on. */
export function countMessages(now = () => Date.now()): () => boolean {
  let since = now();
  let count = 0;
  return () => {
    if (count <= messagesAtMost && now() - since > within) {
      since = now();
      count = 0;
    }
    return ++count <= messagesAtMost;
  };
}

// In ms.
const firstWait = 250;
const longestWait = 60_000;
const reconnectsAtMost = 12;

/**
 * Schedules the requests for a stream that the server has ended: after waits that grow, however short the server wants them, and at most
 * twelve times. `begin`: resets the count when a call begins, which may go on in a stream of its own.
 */
export function reconnections() {
  let count = 0;
  return {
    begin() {
      count = 0;
    },
    schedule(reconnect: () => void, asked: number): (() => void) | undefined {
      if (count === reconnectsAtMost) return;
      const wait = Math.min(Math.max(Number.isFinite(asked) ? asked : 0, firstWait * 2 ** count), longestWait);
      count++;
      const timer = setTimeout(reconnect, wait).unref();
      return () => clearTimeout(timer);
    },
  };
}
