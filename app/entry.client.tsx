import { startTransition } from "react";
import { hydrateRoot } from "react-dom/client";
import { HydratedRouter } from "react-router/dom";
import { closePopover } from "./ui/close-popover.ts";

// The seed's key; the page itself is always dark.
localStorage.setItem("nuxt-color-mode", "dark");

document.addEventListener("click", closePopover);

startTransition(() => {
  hydrateRoot(document, <HydratedRouter />);
});
