import { useEffect, useState } from "react";
import { useFetcher, useRouteLoaderData, useSubmit } from "react-router";
import { Dialog } from "../../ui/dialog.tsx";
import { onUnsent, type Unsent } from "../../ui/send-form.ts";
import { SignInForm } from "./sign-in-form.tsx";
import type { SignInResult } from "./signin.tsx";

/** Opens over a half-written form whose session has ended; once the person is back, the form is sent. */
export function SignInDialog() {
  const [unsent, setUnsent] = useState<Unsent>();
  const fetcher = useFetcher<SignInResult>({ key: "sign-in" });
  const submit = useSubmit();
  const token = useRouteLoaderData<{ formToken: string }>("root")?.formToken;
  useEffect(() => onUnsent(setUnsent), []);
  const freshToken =
    unsent?.formToken ?? (fetcher.data && "signedIn" in fetcher.data && fetcher.state === "idle" ? token : undefined);
  useEffect(() => {
    if (!unsent || !freshToken) return;
    setUnsent(undefined);
    fetcher.reset();
    unsent.form.set("formToken", freshToken);
    void submit(unsent.form, { method: "post", action: unsent.action, preventScrollReset: true });
  }, [unsent, freshToken, submit, fetcher.reset]);
  if (!unsent || freshToken) return null;
  return (
    <Dialog title="Iniciar sesión" onClose={() => setUnsent(undefined)}>
      <div className="body">
        <p className="mb-5">
          Session expirada, por favor inicia sesión nuevamente. Lo que has escrito se enviará después.
        </p>
        <SignInForm
          Form={fetcher.Form}
          volver=""
          held={{}}
          stay
          result={fetcher.data && "errors" in fetcher.data ? fetcher.data : undefined}
        />
      </div>
    </Dialog>
  );
}
