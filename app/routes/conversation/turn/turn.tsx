import { type ComponentProps, useLayoutEffect, useRef, useState } from "react";
import { LiveReply } from "../reply/live-reply.tsx";
import type { RenderedTurn } from "./turn-body.server.tsx";

type Props = {
  turn: RenderedTurn;
  marker: string | undefined;
  found?: boolean;
  /** Whether the turn's text is being edited in the composer. */
  edited?: boolean;
};

/**
 * A message of the conversation, with its actions. The message comes as HTML from the server, since nothing in it changes by itself; the
 * browser renders only a reply that is being written.
 */
export function Turn({ turn: { id, role, status, source, html }, marker, found, edited }: Props) {
  const attributes = {
    className: "turn",
    id: `m-${id}`,
    "data-message-id": id,
    "data-role": role,
    "data-status": status,
    "data-digital-source-type": source,
    // Client-side navigation does not update :target, so CSS marks the search hit by this attribute.
    "data-found": found || undefined,
    "data-edited": edited || undefined,
  };
  if (status !== "streaming") return <Finished {...attributes} html={html} />;
  return (
    <article {...attributes} aria-busy>
      <div className="contents" dangerouslySetInnerHTML={{ __html: html }} />
      <LiveReply key={id} messageId={id} marker={marker} />
    </article>
  );
}

/** React gets only the first HTML; later HTML is put in by `replaceHtml`, which keeps the person's changes to the article. */
function Finished({ html, ...attributes }: ComponentProps<"article"> & { html: string }) {
  const article = useRef<HTMLElement>(null);
  const [first] = useState(html);
  const shown = useRef(html);
  useLayoutEffect(() => {
    if (article.current && shown.current !== html) replaceHtml(article.current, html);
    shown.current = html;
  }, [html]);
  // Safe: made by our own components, and text of models by our own renderer, with raw HTML off.
  return <article ref={article} {...attributes} dangerouslySetInnerHTML={{ __html: first }} />;
}

/** Replaces an article's HTML: an unfolded part stays open, and a call that is still undecided keeps the text typed into its form. */
function replaceHtml(article: HTMLElement, html: string): void {
  const open = Array.from(article.querySelectorAll("details"), (fold) => fold.open);
  const forms = article.querySelectorAll("form.decision");
  article.innerHTML = html;
  for (const [n, fold] of article.querySelectorAll("details").entries()) fold.open = open[n] ?? false;
  for (const form of forms) {
    article.querySelector(`form.decision[action="${form.getAttribute("action")}"]`)?.replaceWith(form);
  }
}
