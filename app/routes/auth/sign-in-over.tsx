import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import { useRouteLoaderData } from "react-router";
import type { loader as rootLoader } from "../../root.tsx";
import { onUnsent } from "../../ui/send-form.ts";
import type { Waiting } from "./sign-in-dialog.tsx";

// Hardly ever needed: it is fetched when it is.
const SignInDialog = lazy(() => import("./sign-in-dialog.tsx"));

/** Waits for a form that the server did not take, and opens the sign-in over it. */
export function SignInOver() {
  const [waiting, setWaiting] = useState<Waiting>();
  const writer = useRouteLoaderData<typeof rootLoader>("root")?.personId ?? null;
  const done = useCallback(() => setWaiting(undefined), []);
  useEffect(
    () => onUnsent((unsent) => setWaiting((before) => ({ ...unsent, writer: before?.writer ?? writer }))),
    [writer],
  );
  return waiting ? (
    <Suspense>
      <SignInDialog waiting={waiting} onDone={done} />
    </Suspense>
  ) : null;
}
