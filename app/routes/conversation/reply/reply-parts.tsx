import { MadeImage } from "../../../ui/made-image.tsx";
import { Call } from "../calls/call.tsx";
import type { ShownTurn } from "../turn/turns.server.ts";
import { ReasoningFold } from "./reasoning-fold.tsx";

/** A finished reply: its text, with the model's thoughts, tool calls and images in between. */
export const ReplyParts = ({ parts }: Pick<ShownTurn, "parts">) =>
  parts.map((part) => {
    if (part.kind === "reasoning") return <ReasoningFold key={part.n} part={part} />;
    if (part.kind === "tool") return <Call key={part.n} call={part} />;
    if (part.kind === "image") return <MadeImage key={part.n} image={part} />;
    // Safe: made by our own renderer, with raw HTML off.
    return <div key={part.n} className="prose" dir="auto" dangerouslySetInnerHTML={{ __html: part.html }} />;
  });
