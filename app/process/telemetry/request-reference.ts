import { createContext } from "react";

/** The id of the request that a page answers, by which its lines are found in the log. Empty in browsers. */
export const RequestReference = createContext("");
