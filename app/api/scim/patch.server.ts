import { z } from "zod";
import { recordOf } from "../../process/text/json.ts";
import { ScimError } from "./scim-error.server.ts";

const operations = z.object({
  Operations: z
    .array(
      z.object({
        // Some providers write these with a capital.
        op: z
          .string()
          .transform((op) => op.toLowerCase())
          .pipe(z.enum(["add", "replace", "remove"])),
        // Null is the same as nothing (RFC 7643, 2.5).
        path: z.string().max(500).nullish(),
        value: z.unknown().optional(),
      }),
    )
    .min(1)
    .max(1_000),
});

/** One change of one attribute; `path` as it was sent. */
export type PatchOperation = { op: "add" | "replace" | "remove"; path: string; value: unknown };

/** Changes of a PATCH (RFC 7644, 3.5.2), one for each attribute, also where several stand in one value. Throws ScimError. */
export function changesIn(body: unknown): PatchOperation[] {
  const read = operations.safeParse(body);
  if (!read.success) throw new ScimError(400, "Los cambios no se entienden: falta «Operations».", "invalidSyntax");
  return read.data.Operations.flatMap(({ op, path, value }): PatchOperation[] => {
    if (path) return [{ op, path, value }];
    const attributes = recordOf(value);
    if (!attributes) throw new ScimError(400, "Un cambio sin «path» lleva sus atributos en «value».", "invalidPath");
    return Object.entries(attributes).map(([name, given]) => ({ op, path: name, value: given }));
  });
}

/** A flag, which some providers send as a text with a capital. */
export function flagIn(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  const said = typeof value === "string" ? value.toLowerCase() : "";
  return said === "true" || said === "false" ? said === "true" : undefined;
}
