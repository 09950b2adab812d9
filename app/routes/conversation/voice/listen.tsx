import { titled } from "../../../ui/navigation/page-title.ts";
import { Dialog, DialogFoot } from "../../../ui/overlays/dialog.tsx";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { dashboardOf } from "../../../web/dashboard.server.ts";
import type { Route } from "./+types/listen";

export const meta = titled("Escuchar la respuesta");
export const handle = { dialog: true };

export async function loader({ context, params: { messageId } }: Route.LoaderArgs) {
  const { api } = context.get(apiContext);
  const [{ id }, { voice }] = await Promise.all([
    read(api.message[":id"].$get({ param: { id: messageId } })),
    dashboardOf(context),
  ]);
  return { id, speaks: voice.speaks };
}

/** The browser's player. It requests the sound when it is started; the first request makes the sound. */
export default function Listen({ loaderData: { id, speaks }, params }: Route.ComponentProps) {
  const closeTo = `/conversation/chat/${params.id}`;
  const sound = `/conversation/voz/${id}`;
  return (
    <Dialog title="Escuchar la respuesta" closeTo={closeTo}>
      <div className="body fields">
        {speaks ? (
          <>
            <p>La primera vez tarda unos segundos en empezar: se lee entonces, y se guarda.</p>
            {/* biome-ignore lint/a11y/useMediaCaption: what is said is the text of the reply, behind this dialog */}
            <audio className="player" controls preload="none" src={sound} />
            <p>
              <a href={sound} download="respuesta">
                Descargar el sonido
              </a>
            </p>
          </>
        ) : (
          <p>Aquí no hay ningún modelo que lea en voz alta. Lo pone quien administra.</p>
        )}
      </div>
      <DialogFoot cancelTo={closeTo} word="Cerrar" />
    </Dialog>
  );
}
