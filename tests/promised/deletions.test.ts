import type { RouteConfigEntry } from "@react-router/dev/routes";
import { expect, it } from "vitest";
import { deletionAt } from "../../app/routes/deletion/deletions.server.ts";
import routes from "../../app/routes.ts";

const patterns = (entries: RouteConfigEntry[], above = ""): string[] =>
  entries.flatMap(({ path, file, children = [] }) => {
    const here = path ? `${above}/${path}` : above;
    return [...(file === "routes/deletion/delete.tsx" ? [here] : []), ...patterns(children, here)];
  });

it("every page that deletes knows what it deletes", async () => {
  const found = patterns(await routes);
  expect(found).toHaveLength(8);
  for (const pattern of found) expect(deletionAt(pattern).title).toMatch(/^(Eliminar|Desconectar) /);
});
