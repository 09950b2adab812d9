import { startTransition } from "react";
import { hydrateRoot } from "react-dom/client";
import { HydratedRouter } from "react-router/dom";
import { closePopover } from "./ui/close-popover.ts";
import { fetchOnIntent } from "./ui/revisits.tsx";
import { keepTimeZone } from "./ui/time-zone.ts";
import { keepViewport } from "./ui/viewport.ts";

// The seed's key; the page itself is always dark.
localStorage.setItem("nuxt-color-mode", "dark");

keepViewport();
keepTimeZone();

document.addEventListener("click", closePopover);
for (const intent of ["pointerover", "focusin", "touchstart"]) {
  document.addEventListener(intent, fetchOnIntent, { passive: true });
}

// What the router itself breaks off, as when something is sent in the middle of a refresh, is no mistake to be told.
addEventListener("unhandledrejection", (event) => {
  if ((event.reason as Error | undefined)?.name === "AbortError") event.preventDefault();
});

startTransition(() => {
  hydrateRoot(document, <HydratedRouter />);
});
