import { useEffect, useRef } from "react";
import { useRevalidator } from "react-router";

/**
 * The text of a reply under way. In a document the server writes it in place of `marker`, and there is nothing left to do
 * but to fetch the finished page; otherwise the browser follows it by events.
 */
export function LiveReply({ messageId, marker }: { messageId: string; marker: string | undefined }) {
  const live = useRef<HTMLDivElement>(null);
  const revalidate = useRevalidator().revalidate;
  useEffect(() => {
    if (marker !== undefined) {
      void revalidate();
      return;
    }
    let stop: (() => void) | undefined;
    let left = false;
    void import("./follow-events.ts").then(({ followEvents }) => {
      if (!left) stop = followEvents(live.current, messageId, revalidate);
    });
    return () => {
      left = true;
      stop?.();
    };
  }, [messageId, marker, revalidate]);
  return (
    <div
      ref={live}
      className="live"
      suppressHydrationWarning
      // Safe: the marker is the server's, and so is what it writes there.
      dangerouslySetInnerHTML={{ __html: marker ?? "" }}
    />
  );
}
