import { useState } from "react";

/** The last answer of a page's action, kept until `path` changes: the router drops the answer when the page is revalidated. */
export function useAnswer<Answer>(answer: Answer, path: string): Answer | undefined {
  const [kept, setKept] = useState({ answer, path });
  if (answer !== undefined && answer !== kept.answer) setKept({ answer, path });
  return answer ?? (kept.path === path ? kept.answer : undefined);
}
