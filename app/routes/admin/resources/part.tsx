import { PostForm } from "../../../ui/forms/post-form.tsx";
import type { accountOf } from "../account.server.ts";
import { Account } from "../account.tsx";
import type { TriedAgain } from "../opinions/try-again.server.ts";
import { TryAgain } from "../opinions/try-again.tsx";
import type { DueNow } from "../retention/due.server.ts";
import { Due } from "../retention/due.tsx";
import type { SignInAnswer, toolServerOf } from "../tools/tool-server.server.ts";
import { ToolServer } from "../tools/tool-server.tsx";

/** A part of an item's page besides its columns. */
export type PartOfItem =
  | { kind: "link"; link: string }
  | ({ kind: "account" } & Awaited<ReturnType<typeof accountOf>>)
  | ({ kind: "server" } & NonNullable<ReturnType<typeof toolServerOf>>)
  | { kind: "signout" }
  | ({ kind: "due" } & DueNow)
  | { kind: "again"; models: { id: string; name: string }[]; reply: string };

/** `result`: the answer of the page's action; it is for this part if this part has a form. */
export function ItemPart({ part, result }: { part: PartOfItem; result: unknown }) {
  switch (part.kind) {
    case "link":
      return (
        <p className="given">
          Su enlace, para dárselo a quien invitas: <code>{part.link}</code>
        </p>
      );
    case "account":
      return <Account {...part} />;
    case "server":
      return <ToolServer {...part} result={result as SignInAnswer | undefined} />;
    case "signout":
      return (
        <PostForm className="mt-5">
          <button type="submit" className="button small" name="intent" value="signout">
            Cerrar sus sesiones
          </button>
        </PostForm>
      );
    case "due":
      return <Due {...part} />;
    case "again":
      return <TryAgain {...part} result={result as TriedAgain | undefined} />;
  }
}
