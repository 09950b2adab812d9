import { createIsbotFromList, list } from "isbot";

// User agents that the list wrongly counts as bots.
const people = ["ELinks/0.16", "Dillo/3.1", "HeadlessChrome/156", "node", "curl/8"];

/** Whether the request is a search engine's or a link preview's. */
export const isBot = createIsbotFromList(
  list.filter((pattern) => !people.some((name) => new RegExp(pattern, "i").test(name))),
);
