import { ReasoningFold } from "./reasoning-fold.tsx";
import type { ShownTurn } from "./turns.server.ts";

/** A finished reply: its text, and folded between it what the model thought. */
export const ReplyParts = ({ parts }: Pick<ShownTurn, "parts">) =>
  parts.map((part) =>
    part.kind === "reasoning" ? (
      <ReasoningFold key={part.n} part={part} />
    ) : (
      // Safe: made by our own renderer, with raw HTML off.
      <div key={part.n} className="prose" dir="auto" dangerouslySetInnerHTML={{ __html: part.html }} />
    ),
  );
