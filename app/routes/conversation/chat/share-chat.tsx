import { useState } from "react";
import { data } from "react-router";
import { z } from "zod";
import { Callout } from "../../../ui/callout.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { copyToClipboard } from "../../../ui/input/clipboard.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { Dialog, DialogFoot } from "../../../ui/overlays/dialog.tsx";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext, formContext, sessionContext } from "../../../web/context.ts";
import { type FormResult, sendFields, textOf } from "../../../web/forms/form.server.ts";
import type { Route } from "./+types/share-chat";

export const meta = titled("Compartir conversación");
export const handle = { dialog: true };

export async function loader({ context, params, url }: Route.LoaderArgs) {
  const { share, groups } = context.get(apiContext).api.chat[":id"];
  const param = { id: params.id };
  const [link, { items }] = await Promise.all([read(share.$get({ param })), read(groups.$get({ param }))]);
  return {
    groups: items,
    link: link && { address: `${url.origin}/compartido/${link.token}`, upToDate: link.upToDate, files: link.files },
  };
}

export const action = ({ context, params, url }: Route.ActionArgs) =>
  sendFields(context, z.object({}), async () => {
    const { share, groups } = context.get(apiContext).api.chat[":id"];
    const param = { id: params.id };
    const form = context.get(formContext);
    if (textOf(form, "intent") === "groups") {
      const groupIds = form.getAll("group").filter((id) => typeof id === "string");
      await accepted(groups.$put({ param, json: { groupIds } }));
      const title = groupIds.length > 0 ? "La ven quienes están en esos grupos." : "Ya no la ve ningún grupo.";
      context.get(sessionContext).flash({ type: "success", title });
      return data(null);
    }
    const stop = textOf(context.get(formContext), "intent") === "stop";
    const json = { files: textOf(context.get(formContext), "files") === "1", version: versionIn(url) };
    await (stop ? accepted(share.$delete({ param })) : accepted(share.$put({ param, json })));
    return data(null);
  });

/** A message of the version that was shown when the dialog was opened. */
const versionIn = (url: URL) => url.searchParams.get("version") ?? undefined;

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function ShareChat({ loaderData: { link: share, groups }, actionData, params }: Route.ComponentProps) {
  const closeTo = `/conversation/chat/${params.id}`;
  const { message }: Partial<FormResult> = actionData ?? {};
  return (
    <Dialog title="Compartir conversación" closeTo={closeTo}>
      <div className="body fields">
        {share ? <Shared {...share} /> : <NotShared />}
        {groups.length > 0 && <Groups groups={groups} />}
        {message && (
          <Callout type="error">
            <p>{message}</p>
          </Callout>
        )}
      </div>
      <DialogFoot cancelTo={closeTo} word="Cerrar">
        {share && (
          <PostForm preventScrollReset>
            <button type="submit" name="intent" value="stop" className="button danger">
              Dejar de compartir
            </button>
          </PostForm>
        )}{" "}
        {!share?.upToDate && (
          <button type="submit" form="compartir" className="button primary">
            {share ? "Incluir lo último" : "Crear enlace"}
          </button>
        )}
      </DialogFoot>
    </Dialog>
  );
}

/** The groups that the person is in, and which of them may read this conversation. */
function Groups({ groups }: { groups: { id: string; name: string; shown: boolean }[] }) {
  return (
    <PostForm preventScrollReset>
      <fieldset className="field">
        <legend className="label">Enseñarla a un grupo</legend>
        <p className="hint">
          Quien está en él la lee aquí, con lo que escribas después, y puede continuar en una copia suya.
        </p>
        {groups.map(({ id, name, shown }) => (
          <label key={id} className="check">
            <input type="checkbox" name="group" value={id} defaultChecked={shown} />
            <span>{name}</span>
          </label>
        ))}
        <div className="buttons">
          <button type="submit" className="button small" name="intent" value="groups">
            Guardar grupos
          </button>
        </div>
      </fieldset>
    </PostForm>
  );
}

function NotShared() {
  return (
    <>
      <p>
        Se crea un enlace para leer esta conversación tal como está ahora. Lo que escribas después no se verá, y puedes
        retirarlo cuando quieras.
      </p>
      <PostForm id="compartir" preventScrollReset>
        <label className="check">
          <input type="checkbox" name="files" value="1" />
          <span>Con los archivos adjuntos</span>
        </label>
      </PostForm>
    </>
  );
}

function Shared({ address, upToDate, files }: { address: string; upToDate: boolean; files: boolean }) {
  return (
    <>
      <div className="field">
        <p className="label">Enlace</p>
        <p>
          <code className="break-all">{address}</code>
        </p>
        <div className="buttons">
          <CopyAddress address={address} />{" "}
          <a className="button small" href={address} target="_blank" rel="noreferrer">
            Abrir
          </a>
        </div>
      </div>
      <p className="hint">
        Quien lo tenga puede leer la conversación {upToDate ? "entera" : "hasta donde estaba al compartirla"},{" "}
        {files ? "con" : "sin"} los archivos adjuntos, sin ver tu nombre ni el resto.
      </p>
      <PostForm id="compartir" preventScrollReset>
        {files && <input type="hidden" name="files" value="1" />}
      </PostForm>
      <PostForm preventScrollReset>
        {!files && <input type="hidden" name="files" value="1" />}
        <button type="submit" className="button small">
          {files ? "Quitar los archivos adjuntos" : "Incluir los archivos adjuntos"}
        </button>
      </PostForm>
    </>
  );
}

/** Button that is shown only with a script; without one, the address can be selected and copied by hand. */
function CopyAddress({ address }: { address: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <button
      type="button"
      className="button small scripted"
      onClick={async () => {
        setCopied(await copyToClipboard(address));
      }}
    >
      <span role="status">{copied ? "Copiado" : "Copiar enlace"}</span>
    </button>
  );
}
