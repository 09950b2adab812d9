import { Suspense, useCallback, useEffect, useState } from "react";
import { useRouteLoaderData } from "react-router";
import { onUnsent } from "../../ui/forms/send-form.ts";
import { lazily } from "../../ui/lazily.ts";
import { showToast } from "../../ui/overlays/toasts.tsx";
import type { loadRoot } from "../../web/root-data.server.ts";
import type { Waiting } from "./sign-in-dialog.tsx";

// Rarely needed. If it can't be loaded, the toast tells the failure.
const SignInDialog = lazily(() => import("./sign-in-dialog.tsx"));

/** Listens for refused forms and opens the sign-in dialog. */
export function SignInOver() {
  const [waiting, setWaiting] = useState<Waiting>();
  const writer = useRouteLoaderData<typeof loadRoot>("root")?.personId ?? null;
  const done = useCallback(() => setWaiting(undefined), []);
  useEffect(
    () =>
      onUnsent((unsent) => {
        showToast({ type: "error", title: "Session expirada, por favor inicia sesión nuevamente." });
        setWaiting((before) => ({ ...unsent, writer: before?.writer ?? writer }));
      }),
    [writer],
  );
  return waiting ? (
    <Suspense>
      <SignInDialog waiting={waiting} onDone={done} />
    </Suspense>
  ) : null;
}
