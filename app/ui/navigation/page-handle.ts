/** Properties of a page that the pages around it ask for: the `handle` that its route exports. */
export type PageHandle = {
  /** Whether the page has scripts; `needed`: it has scripts as a light page as well. */
  scripts?: boolean | "needed";
  /** Whether the page shows the server's flash message in a place of its own. */
  tells?: boolean;
  /** Whether the page is a dialog over another page. */
  dialog?: boolean;
};

export const handleOf = ({ handle }: { handle: unknown }) => handle as PageHandle | undefined;
