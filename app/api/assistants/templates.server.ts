import { z } from "@hono/zod-openapi";
import { expressionBuilder } from "kysely";
import type { Tables } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { isAdmin } from "../http/authentication.server.ts";
import { invalid } from "../http/problem.server.ts";
import type { Resource } from "../http/resource.server.ts";
import { flag, flagsOf, line, rowFields, text, timesOf } from "../http/schemas.server.ts";
import { mayChange } from "./own-or-shared.server.ts";

const e = expressionBuilder<Tables, "templates">();

const body = z.strictObject({
  title: line("El título", limits.chatTitle, 1),
  content: text("El texto", limits.templateContent, 1),
  shared: flag.default(false),
});
const shown = z
  .object({
    ...rowFields,
    userId: z.string(),
    title: z.string(),
    content: z.string().openapi({ description: "Con huecos como {{ciudad}}." }),
    shared: z.boolean().openapi({ description: "Si la usan todos." }),
    mayChange: z.boolean(),
  })
  .openapi("Template");

/** Texts to begin a message with: a person's own, and those that an administrator has made for all. */
export const templates: Resource<"templates", typeof shown, typeof body> = {
  table: "templates",
  name: "template",
  shown,
  body,
  show: (row, { person }) => ({
    ...row,
    ...timesOf(row),
    ...flagsOf(row, "shared"),
    mayChange: mayChange(row, person),
  }),
  columns(given, { person, before }) {
    if (given.shared && !isAdmin(person)) {
      throw invalid("shared", "Solo quien administra hace plantillas para todos.");
    }
    return { ...given, userId: before?.userId ?? person.id };
  },
  sees: ({ id }) => e.or([e("templates.userId", "=", id), e("templates.shared", "=", 1)]),
  mayChange,
  list: {
    searched: ["title"],
    sortable: [
      { text: "title", direction: "asc" },
      { number: "updatedAt", direction: "desc" },
    ],
    filters: { shared: "flag", userId: "text" },
  },
  says: {
    list: "Las plantillas de la persona y las de todos.",
    item: "La plantilla.",
    created: "La plantilla nueva.",
    changed: "La plantilla, cambiada.",
    deleted: "La plantilla ya no existe.",
  },
};
