import type { ContentfulStatusCode } from "hono/utils/http-status";

type ScimType = "invalidFilter" | "invalidSyntax" | "invalidPath" | "invalidValue" | "uniqueness" | "mutability";

/** A refused call, as its caller reads it (RFC 7644, 3.12). The message is a sentence for people who read the provider's log. */
export class ScimError extends Error {
  override name = "ScimError";
  readonly status: ContentfulStatusCode;
  readonly scimType: ScimType | undefined;
  constructor(status: ContentfulStatusCode, detail: string, scimType?: ScimType) {
    super(detail);
    this.status = status;
    this.scimType = scimType;
  }
}

export const noSuchThing = () => new ScimError(404, "Aquí no hay nada con ese identificador.");
