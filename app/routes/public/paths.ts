/** The page that stands at the root of the site. */
export const homeSlug = "inicio";

/** Where a page is. */
export const pathOf = (slug: string) => (slug === homeSlug ? "/" : `/${encodeURIComponent(slug)}`);
