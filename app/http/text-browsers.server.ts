import { headerOf } from "./header.server.ts";

// Text browsers show a page only when it is complete, ignore styles, and show every menu open.
const names = /^(e?links|w3m|lynx|dillo)\b/i;

/** Whether the request comes from a text browser. */
export const isTextBrowser = (request: Request) => names.test(headerOf(request, "User-Agent"));
