import { startTransition } from "react";
import { hydrateRoot } from "react-dom/client";
import { HydratedRouter } from "react-router/dom";
import { start } from "./ui/navigation/start.ts";

start();
startTransition(() => {
  hydrateRoot(document, <HydratedRouter />);
});
