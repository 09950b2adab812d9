import { useEffect, useRef } from "react";
import { forgetPage } from "../../../ui/navigation/pages-seen.ts";

// In ms.
const savedAfter = 800;

/** Saves the draft of the composer of `page` when typing pauses, and at once on leaving; a failure must not disturb who is typing. */
export function useDraft(page: string, edits: boolean) {
  const waiting = useRef<{ timer: ReturnType<typeof setTimeout>; save: () => void }>(undefined);
  const leave = () => {
    clearTimeout(waiting.current?.timer);
    waiting.current?.save();
    waiting.current = undefined;
  };
  const cancel = () => {
    clearTimeout(waiting.current?.timer);
    waiting.current = undefined;
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only on leaving
  useEffect(() => {
    addEventListener("pagehide", leave);
    return () => {
      removeEventListener("pagehide", leave);
      leave();
    };
  }, []);
  const keep = ({ currentTarget }: { currentTarget: HTMLFormElement }) => {
    cancel();
    // Preload what following a reply needs.
    void import("../stream/follow-events.ts");
    // Editing an earlier message does not touch the draft.
    if (edits) return;
    const form = new FormData(currentTarget);
    const body = new URLSearchParams(
      [...form].filter((field): field is [string, string] => typeof field[1] === "string"),
    );
    const save = () => {
      forgetPage(page);
      void fetch("/conversation/draft", { method: "POST", body, keepalive: true }).catch(() => {});
    };
    waiting.current = { save, timer: setTimeout(leave, savedAfter) };
  };
  return { keep, cancel };
}
