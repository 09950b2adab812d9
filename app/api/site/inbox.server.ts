import { z } from "@hono/zod-openapi";
import type { ReadResource } from "../http/resource.server.ts";
import { isoOrNull, rowFields, timesOf } from "../http/schemas.server.ts";

const shown = z
  .object({
    ...rowFields,
    kind: z.enum(["contact", "support"]),
    name: z.string(),
    email: z.string(),
    message: z.string(),
    userId: z.string().nullable(),
    sentAt: z.string().nullable().openapi({ description: "Cuándo salió por correo; null: solo está aquí." }),
  })
  .openapi("InboxMessage");

/** Messages from the contact and support forms. */
export const inbox: ReadResource<"emails", typeof shown> = {
  table: "emails",
  shown,
  show: ({ key: _, ...row }) => ({
    ...row,
    ...timesOf(row),
    sentAt: isoOrNull(row.sentAt),
  }),
  list: {
    searched: ["name", "email", "message"],
    sortable: [{ number: "createdAt", direction: "desc" }],
    filters: { kind: "text", userId: "text" },
  },
};
