import { useEffect, useState } from "react";
import { textsOf } from "../../../ui/forms/send-form.ts";
import { forgetPage } from "../../../ui/navigation/pages-seen.ts";

// In ms: from the last input to saving, and from a failure to the next try.
const savedAfter = 800;
const savedAgainAfter = 4_000;
// Browsers send no more than 64 KiB when a page is left.
const sentOnLeaving = 60_000;

/** The newest draft of each page, until it is stored. A page may be left before. */
const unsaved = new Map<string, URLSearchParams>();

/** Stores a draft, again and again while the server does not answer, until a newer one or a message takes its place. */
async function store(page: string, body = unsaved.get(page)): Promise<void> {
  if (!body || unsaved.get(page) !== body) return;
  const keepalive = String(body).length < sentOnLeaving;
  // A refusal ends the attempts too: sending the message will say why, and typing must not be disturbed.
  const ended = await fetch("/conversation/draft", { method: "POST", body, keepalive }).then(
    ({ status }) => status < 500,
    () => false,
  );
  // A page that was loaded before this answer lacks the draft.
  forgetPage(page);
  if (!ended) setTimeout(store, savedAgainAfter, page, body);
  else if (unsaved.get(page) === body) unsaved.delete(page);
}

/** Saves the draft of the composer of `page` when typing pauses, and at once on leaving. */
export function useDraft(page: string, edits: boolean) {
  // First text of the composer: an unsaved draft, which may be stored a moment later.
  const [typed] = useState(() => (edits ? undefined : unsaved.get(page)?.get("content")));
  useEffect(() => {
    const leave = () => void store(page);
    addEventListener("pagehide", leave);
    return () => {
      removeEventListener("pagehide", leave);
      leave();
    };
  }, [page]);
  const keep = ({ currentTarget }: { currentTarget: HTMLFormElement }) => {
    // Preload the script that follows a reply.
    void import("../stream/follow-events.ts");
    // Editing an earlier message does not touch the draft.
    if (edits) return;
    const draft = new URLSearchParams(textsOf(new FormData(currentTarget)));
    unsaved.set(page, draft);
    setTimeout(store, savedAfter, page, draft);
  };
  return { keep, cancel: () => unsaved.delete(page), typed };
}
