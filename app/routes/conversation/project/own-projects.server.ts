import { limits } from "../../../process/limits.ts";
import type { Client } from "../../../web/api-client.server.ts";
import { read } from "../../../web/api-result.server.ts";

// More than anybody looks through in a list of choices.
const pagesAtMost = 10;

/** The names of all projects of a person, to choose one of; beyond a thousand, the newest ones. */
export async function ownProjects({ api }: Client, userId: string): Promise<{ id: string; name: string }[]> {
  const projects: { id: string; name: string }[] = [];
  const query = { filter: JSON.stringify({ userId }), limit: String(limits.listMax) };
  for (let page = 0, cursor: string | null = ""; page < pagesAtMost && cursor !== null; page++) {
    const answer: { items: { id: string; name: string }[]; nextCursor: string | null } = await read(
      api.project.$get({ query: { ...query, ...(cursor && { cursor }) } }),
    );
    projects.push(...answer.items.map(({ id, name }) => ({ id, name })));
    cursor = answer.nextCursor;
  }
  return projects;
}
