import { createIsbotFromList, list } from "isbot";

// Browsers and tools of people, which the list takes for robots as well.
const people = ["ELinks/0.16", "Dillo/3.1", "HeadlessChrome/156", "node", "curl/8"];

/** Whether a search engine or a link preview asks. */
export const isRobot = createIsbotFromList(
  list.filter((pattern) => !people.some((name) => new RegExp(pattern, "i").test(name))),
);
