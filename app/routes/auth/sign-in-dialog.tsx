import { useEffect } from "react";
import { useFetcher, useNavigation, useRouteLoaderData, useSubmit } from "react-router";
import { FormToken } from "../../ui/forms/post-form.tsx";
import { sentAgain, type UnsentHere } from "../../ui/forms/send-form.ts";
import { Dialog } from "../../ui/overlays/dialog.tsx";
import type { loadRoot } from "../../web/root-data.server.ts";
import { SignInForm, type SignInRefusal } from "./sign-in-form.tsx";
import type { SignInResult } from "./signin.tsx";

/** `writer`: the id of the person who wrote the form. */
export type Waiting = UnsentHere & { writer: string | null };

/** Part of the dashboard's data. */
type Signed = { person: { email: string } };

type Props = { waiting: Waiting; onDone(): void };

/** Opens over a form whose session has ended; when its writer has signed in again, the form is sent. */
export default function SignInDialog({ waiting, onDone }: Props) {
  const fetcher = useFetcher<SignInResult>({ key: "sign-in" });
  const submit = useSubmit();
  const settled = useNavigation().state === "idle" && fetcher.state === "idle";
  const root = useRouteLoaderData<typeof loadRoot>("root");
  const writer = root?.personId ?? null;
  const email = (useRouteLoaderData("routes/shell/layout") as Signed | undefined)?.person.email;

  const signedIn = fetcher.data && "signedIn" in fetcher.data;
  // The current person and form token, from the refusal or from the sign-in.
  const now = signedIn ? { personId: writer, formToken: root?.formToken } : waiting;
  const sendable = settled && now.formToken && now.personId === waiting.writer && now.personId !== null;
  useEffect(() => {
    // Wait until the refused submission is over; the next one would abort it.
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

  // The form is about to be resent.
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
        <p className="mb-5">Tu sesión ha terminado. Lo que has escrito se enviará en cuanto entres.</p>
        <FormToken value={result?.formToken ?? waiting.formToken}>
          <SignInForm Form={fetcher.Form} volver="" stay email={email} result={result} entries={waiting.entries} />
        </FormToken>
      </div>
    </Dialog>
  );
}

/** Never send one person's text as another person. */
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
