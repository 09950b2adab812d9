/** The page that stands at the root of the site. */
export const homeSlug = "inicio";

/** Address of a page. */
export const pathOf = (slug: string) => (slug === homeSlug ? "/" : `/${encodeURIComponent(slug)}`);
