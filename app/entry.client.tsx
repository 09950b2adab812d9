import { startTransition } from "react";
import { hydrateRoot } from "react-dom/client";
import { HydratedRouter } from "react-router/dom";

// The seed's key; the page itself is always dark.
localStorage.setItem("nuxt-color-mode", "dark");

startTransition(() => {
  hydrateRoot(document, <HydratedRouter />);
});
