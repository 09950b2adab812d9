import { createCookie } from "react-router";
import { headerOf } from "../../http/header.server.ts";
import { isTextBrowser } from "../../http/text-browsers.server.ts";

/** When pages are light ones: by the connection, always or never. */
export const lightChoices = ["auto", "always", "never"] as const;
export type LightChoice = (typeof lightChoices)[number];

const cookie = createCookie("tertulia-ligera", {
  httpOnly: true,
  sameSite: "strict",
  path: "/",
  maxAge: 365 * 24 * 60 * 60,
});

/** The visitor's choice; without one, by the connection. */
export async function lightChoiceOf(request: Request): Promise<LightChoice> {
  const value: unknown = await cookie.parse(request.headers.get("Cookie"));
  return lightChoices.find((choice) => choice === value) ?? "auto";
}

export const lightCookie = (choice: LightChoice) => cookie.serialize(choice);

/** Whether the answer is to be a light page. A script's requests are for data, never for a page. */
export async function wantsLight(request: Request): Promise<boolean> {
  if (new URL(request.url).pathname.endsWith(".data")) return false;
  // A copy for reading offline gets nothing more from the server.
  if (request.headers.has("Make-Copy")) return true;
  const choice = await lightChoiceOf(request);
  return choice === "always" || (choice === "auto" && (isSlow(request) || isTextBrowser(request)));
}

/**
 * Whether the client hints ask for little data. Browsers may send Save-Data unasked; ECT (Network Information API) and
 * Sec-CH-Prefers-Reduced-Data follow `Accept-CH`.
 */
const isSlow = (request: Request) =>
  headerOf(request, "Save-Data").toLowerCase() === "on" ||
  headerOf(request, "Sec-CH-Prefers-Reduced-Data") === "reduce" ||
  ["slow-2g", "2g", "3g"].includes(headerOf(request, "ECT"));
