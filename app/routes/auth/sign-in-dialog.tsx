import { useEffect, useState } from "react";
import { useFetcher, useNavigation, useRouteLoaderData, useSubmit } from "react-router";
import { Dialog } from "../../ui/dialog.tsx";
import { FormToken } from "../../ui/post-form.tsx";
import { onUnsent, type Unsent } from "../../ui/send-form.ts";
import { SignInForm } from "./sign-in-form.tsx";
import type { SignInResult } from "./signin.tsx";

/** Opens over a half-written form whose session has ended; once the person is back, the form is sent. */
export function SignInDialog() {
  const [unsent, setUnsent] = useState<Unsent>();
  const fetcher = useFetcher<SignInResult>({ key: "sign-in" });
  const submit = useSubmit();
  const settled = useNavigation().state === "idle";
  const token = useRouteLoaderData<{ formToken: string }>("root")?.formToken;
  useEffect(() => onUnsent(setUnsent), []);
  const signedIn = fetcher.state === "idle" && fetcher.data && "signedIn" in fetcher.data;
  const freshToken = unsent?.sessionEnded ? signedIn && token : unsent?.formToken;
  useEffect(() => {
    // The refused sending has to be over, or it would be cut off by the next one.
    if (!unsent || !freshToken || !settled) return;
    setUnsent(undefined);
    fetcher.reset();
    unsent.form.set("formToken", freshToken);
    void submit(unsent.form, { method: "post", action: unsent.action, preventScrollReset: true });
  }, [unsent, freshToken, settled, submit, fetcher.reset]);
  if (!unsent || freshToken) return null;
  const leave = () => {
    setUnsent(undefined);
    fetcher.reset();
  };
  return (
    <Dialog title="Iniciar sesión" onClose={leave}>
      <div className="body">
        <p className="mb-5">
          Session expirada, por favor inicia sesión nuevamente. Lo que has escrito se enviará después.
        </p>
        <FormToken value={unsent.formToken}>
          <SignInForm
            Form={fetcher.Form}
            volver=""
            held={{}}
            stay
            result={fetcher.data && "errors" in fetcher.data ? fetcher.data : undefined}
          />
        </FormToken>
      </div>
    </Dialog>
  );
}
