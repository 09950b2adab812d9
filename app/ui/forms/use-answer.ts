import { useState } from "react";

/** The last answer of a page's action until one leaves for another `path`: the router drops it when the page is revalidated. */
export function useAnswer<Answer>(answer: Answer, path: string): Answer | undefined {
  const [kept, setKept] = useState({ answer, path });
  if (answer !== undefined && answer !== kept.answer) setKept({ answer, path });
  return answer ?? (kept.path === path ? kept.answer : undefined);
}
