/** The matches of a meta function: the first is the root's, whose data are missing where they could not be loaded. */
type Matches = readonly [{ loaderData?: { house: { name: string } } }, ...unknown[]];

/** The title of a page with the name of the house behind it. */
export function named([root]: Matches, title: string): [{ title: string }] {
  const name = root.loaderData?.house.name;
  return [{ title: name ? `${title} · ${name}` : title }];
}

/** The meta function of a page that always has the same title. */
export const titled =
  (title: string) =>
  ({ matches }: { matches: Matches }) =>
    named(matches, title);
