import { data } from "react-router";
import { z } from "zod";
import { accepted, read } from "../../answers.server.ts";
import { apiContext, formContext } from "../../context.ts";
import { type FormResult, sendFields, textOf } from "../../form.server.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Notice } from "../../ui/notice.tsx";
import { PostForm } from "../../ui/post-form.tsx";
import { sendForm } from "../../ui/send-form.ts";
import type { Route } from "./+types/share-chat";

export const meta: Route.MetaFunction = () => [{ title: "Compartir conversación · Tertulia" }];
export const handle = { dialog: true };

export async function loader({ context, params, url }: Route.LoaderArgs) {
  const share = await read(context.get(apiContext).api.chat[":id"].share.$get({ param: { id: params.id } }));
  return share && { address: `${url.origin}/compartido/${share.token}`, upToDate: share.upToDate, files: share.files };
}

export const action = ({ context, params }: Route.ActionArgs) =>
  sendFields(context, z.object({}), async () => {
    const { share } = context.get(apiContext).api.chat[":id"];
    const param = { id: params.id };
    const stop = textOf(context.get(formContext), "intent") === "stop";
    const json = { files: textOf(context.get(formContext), "files") === "1" };
    await (stop ? accepted(share.$delete({ param })) : accepted(share.$put({ param, json })));
    return data(null);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function ShareChat({ loaderData: share, actionData, params }: Route.ComponentProps) {
  return (
    <Dialog title="Compartir conversación" closeTo={`/conversation/chat/${params.id}`}>
      <div className="body fields">
        {share ? (
          <div className="field">
            <label htmlFor="enlace">Enlace</label>
            <input className="input" id="enlace" readOnly value={share.address} />
            <p className="hint">
              Quien lo tenga puede leer la conversación{" "}
              {share.upToDate ? "entera" : "hasta donde estaba al compartirla"}, sin ver tu nombre ni el resto.
            </p>
          </div>
        ) : (
          <p>
            Se crea un enlace para leer esta conversación tal como está ahora. Lo que escribas después no se verá, y
            puedes retirarlo cuando quieras.
          </p>
        )}
        <PostForm id="compartir" preventScrollReset>
          <label className="check">
            <input key={String(share?.files)} type="checkbox" name="files" value="1" defaultChecked={share?.files} />
            <span>Con los archivos adjuntos</span>
          </label>
        </PostForm>
        {(actionData as FormResult | null | undefined)?.message && (
          <Notice type="error">
            <p>{(actionData as FormResult).message}</p>
          </Notice>
        )}
      </div>
      <div className="foot">
        {share && (
          <PostForm preventScrollReset>
            <button type="submit" name="intent" value="stop" className="button danger">
              Dejar de compartir
            </button>
          </PostForm>
        )}{" "}
        <button type="submit" form="compartir" className="button primary">
          {!share ? "Crear enlace" : share.upToDate ? "Guardar" : "Incluir lo último"}
        </button>
      </div>
    </Dialog>
  );
}
