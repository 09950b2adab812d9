import { type RefObject, Suspense, useEffect, useRef } from "react";
import { Link } from "react-router";
import { lazily } from "../../../ui/lazily.ts";
import { SentMessage } from "../composer/sent-message.tsx";
import { Turn } from "../turn/turn.tsx";
import type { RenderedTurn } from "../turn/turn-body.server.tsx";
import { useLinks } from "../turn/use-links.ts";

// Needed only once somebody has scrolled.
const ToEnd = lazily(() => import("./to-end.tsx"));

type Props = {
  chatId: string;
  turns: RenderedTurn[];
  /** Place of the page's growing reply. */
  marker: string | undefined;
  /** The turns that a search and an edit are about. */
  found: string | undefined;
  edited: string | undefined;
  /** The first turn shown, where there are earlier ones. */
  earlier: string | undefined;
  hasLater: boolean;
};

/** The turns of a conversation, or the part of them that is shown. */
export function Reader({ chatId, turns, marker, found, edited, earlier, hasLater }: Props) {
  const reader = useRef<HTMLDivElement>(null);
  useLinks(reader);
  useCodeCopies(reader, turns.at(-1));
  return (
    <>
      <div className="reader" ref={reader}>
        <div className="turns">
          {earlier && (
            <p className="mb-12 text-center">
              <Link className="button small" to={`/conversation/chat/${chatId}?antes=${earlier}`}>
                Ver mensajes anteriores
              </Link>
            </p>
          )}
          {turns.map((turn, index) => (
            <Turn
              key={turn.id}
              turn={turn}
              marker={index === turns.length - 1 ? marker : undefined}
              found={turn.id === found}
              edited={turn.id === edited}
            />
          ))}
          {turns.at(-1)?.status !== "streaming" && <SentMessage />}
          {hasLater && (
            <p className="mt-12 text-center">
              <Link className="button small" to={`/conversation/chat/${chatId}`}>
                Volver al final
              </Link>
            </p>
          )}
          <div id="final" />
        </div>
      </div>
      <Suspense>
        <ToEnd reader={reader} />
      </Suspense>
    </>
  );
}

/** Buttons that copy code, in conversations that have code. */
function useCodeCopies(reader: RefObject<HTMLDivElement | null>, last: RenderedTurn | undefined) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the last turn has changed
  useEffect(() => {
    // Most conversations have no code, so the script for it is loaded only when needed.
    if (!reader.current?.querySelector("figure.code")) return;
    let stop: (() => void) | undefined;
    let left = false;
    void import("../reply/code-copy.ts").then((copying) => {
      if (!left) stop = copying.offerCopies(reader.current);
    });
    return () => {
      left = true;
      stop?.();
    };
  }, [last?.id, last?.status]);
}
