import { useEffect } from "react";
import { useFetcher, useNavigation, useRouteLoaderData, useSubmit } from "react-router";
import type { loader as rootLoader } from "../../root.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { FormToken } from "../../ui/post-form.tsx";
import { sentAgain, type Unsent } from "../../ui/send-form.ts";
import { SignInForm, type SignInRefusal } from "./sign-in-form.tsx";
import type { SignInResult } from "./signin.tsx";

/** `writer`: whose page it was. */
export type Waiting = Unsent & { writer: string | null };

type Props = { waiting: Waiting; onDone(): void };

/** Stands over a half-written form whose session has ended; once its writer is back, the form is sent. */
export default function SignInDialog({ waiting, onDone }: Props) {
  const fetcher = useFetcher<SignInResult>({ key: "sign-in" });
  const submit = useSubmit();
  const settled = useNavigation().state === "idle" && fetcher.state === "idle";
  const root = useRouteLoaderData<typeof rootLoader>("root");
  const writer = root?.personId ?? null;

  const signedIn = fetcher.data && "signedIn" in fetcher.data;
  // Who is in now, and with which token: as the refusal said, or as the sign-in left it.
  const now = signedIn ? { personId: writer, formToken: root?.formToken } : waiting;
  const sendable = settled && now.formToken && now.personId === waiting.writer && now.personId !== null;
  useEffect(() => {
    // The refused sending has to be over, or it would be cut off by the next one.
    if (!sendable || !now.formToken) return;
    onDone();
    fetcher.reset();
    waiting.form.set("formToken", now.formToken);
    waiting.form.set(sentAgain, "1");
    const encType = [...waiting.form.values()].some((value) => value instanceof File)
      ? ("multipart/form-data" as const)
      : undefined;
    void submit(waiting.form, { method: "post", action: waiting.action, encType, preventScrollReset: true });
  }, [sendable, waiting, now.formToken, submit, fetcher.reset, onDone]);

  // About to be sent.
  if (now.personId !== null && now.personId === waiting.writer) return null;
  const leave = () => {
    onDone();
    fetcher.reset();
  };
  if (now.personId && now.personId !== waiting.writer) return <SomebodyElse onClose={leave} />;
  const result: (SignInRefusal & { formToken?: string }) | undefined =
    fetcher.data && "errors" in fetcher.data ? fetcher.data : undefined;
  return (
    <Dialog title="Iniciar sesión" onClose={leave}>
      <div className="body">
        <p className="mb-5">
          Session expirada, por favor inicia sesión nuevamente. Lo que has escrito se enviará después.
        </p>
        <FormToken value={result?.formToken ?? waiting.formToken}>
          <SignInForm Form={fetcher.Form} volver="" held={{}} stay result={result} />
        </FormToken>
      </div>
    </Dialog>
  );
}

/** What one person has written is never sent as another's. */
function SomebodyElse({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Has entrado con otra cuenta" onClose={onClose} kind="alert">
      <p className="body">
        Lo que has escrito en esta página era de la cuenta de antes, así que no se ha enviado. Sigue aquí: cópialo si lo
        quieres, o recarga la página para seguir con la cuenta de ahora.
      </p>
    </Dialog>
  );
}
