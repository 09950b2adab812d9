import { createContext } from "react";

/**
 * Whether the page is a light one: no script, images as links, its styles within it. Given on the server alone: in a browser it
 * is false, also on the few pages that have a script where others are light.
 */
export const Light = createContext(false);
