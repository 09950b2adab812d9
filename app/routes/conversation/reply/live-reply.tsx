import { useEffect, useRef } from "react";
import { useRevalidator } from "react-router";

/**
 * The text of a running reply. In a document, the server streams it in place of `marker`: hydration comes after its end,
 * and only the data of the finished page are fetched. Otherwise the browser follows it by server-sent events.
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
    void import("../stream/follow-events.ts").then((stream) => {
      if (!left) stop = stream.followEvents(live.current, messageId, revalidate);
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
      // Safe: the marker is a UUID from the server, which replaces it with HTML that it renders itself.
      dangerouslySetInnerHTML={{ __html: marker ?? "" }}
    />
  );
}
