import { z } from "zod";
import type { Client } from "../../../web/api-client.server.ts";
import { ownProjects } from "../project/own-projects.server.ts";

/** Shape of the form of an artifact; the API has the rules. */
export const artifactForm = z.object({
  title: z.string().default(""),
  text: z.string().default(""),
  kind: z.enum(["text", "table", "code"]).default("text"),
  language: z.string().default(""),
  projectId: z.string().default(""),
});

/** Projects that an artifact may be shown to: the person's own, and the project that sees it already. */
export async function projectsFor(client: Client, userId: string, shownTo: string | null) {
  const own = await ownProjects(client, userId);
  const isOwn = shownTo === null || own.some(({ id }) => id === shownTo);
  return isOwn ? own : [...own, { id: shownTo, name: "El proyecto en el que está" }];
}
