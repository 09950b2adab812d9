import { createContext } from "react";

/**
 * Whether the page is a light one: no script, images as links, its styles within it. Given by `entry.server.tsx` alone, because
 * no script ever renders a light page.
 */
export const Light = createContext(false);
