import { useSearchParams } from "react-router";
import { titled } from "../../../ui/navigation/page-title.ts";
import { Dialog, DialogFoot } from "../../../ui/overlays/dialog.tsx";
import type { Route } from "./+types/export-chat";

export const meta = titled("Exportar conversación");
export const handle = { dialog: true };

/** The ways in which a chat can be taken along. */
export default function ExportChat({ params }: Route.ComponentProps) {
  const chat = `/conversation/chat/${params.id}`;
  const [search] = useSearchParams();
  const message = search.get("mensaje");
  if (message) return <ExportReply chat={chat} message={message} />;
  // The version that was shown when the dialog was opened.
  const version = search.get("version");
  const shown = version ? `version=${encodeURIComponent(version)}` : "";
  const file = (format: string) => `${chat}/descargar?formato=${format}${shown && `&${shown}`}`;
  const back = `${chat}${shown && `?${shown}`}`;
  const ways = [
    {
      to: file("docx"),
      name: "Word (DOCX)",
      what: "Lo que se ve, con tablas, fórmulas y fuentes.",
    },
    { to: file("odt"), name: "LibreOffice (ODT)", what: "Lo mismo, en formato abierto." },
    { to: file("markdown"), name: "Markdown", what: "Para leerla o pegarla en otro sitio." },
    { to: file("json"), name: "JSON", what: "Para otros programas, con todas las versiones." },
  ];
  return (
    <Dialog title="Exportar conversación" closeTo={back}>
      <ul className="rows body">
        <Ways ways={ways} />
        <li className="row">
          <div>
            <a className="title" href={`${chat}/imprimir${shown && `?${shown}`}`} target="_blank" rel="noreferrer">
              Página para imprimir
            </a>
            <p className="line">Entera y sin botones; desde ahí se guarda también como PDF.</p>
          </div>
        </li>
      </ul>
      <DialogFoot cancelTo={back} word="Cerrar" />
    </Dialog>
  );
}

/** The ways in which one reply can be taken along. */
function ExportReply({ chat, message }: { chat: string; message: string }) {
  const file = (format: string) => `${chat}/descargar?formato=${format}&mensaje=${encodeURIComponent(message)}`;
  const ways = [
    { to: file("docx"), name: "Word (DOCX)", what: "Con sus tablas, fórmulas y fuentes." },
    { to: file("odt"), name: "LibreOffice (ODT)", what: "Lo mismo, en formato abierto." },
  ];
  const back = `${chat}?mensaje=${encodeURIComponent(message)}#m-${encodeURIComponent(message)}`;
  return (
    <Dialog title="Exportar respuesta" closeTo={back}>
      <ul className="rows body">
        <Ways ways={ways} />
      </ul>
      <DialogFoot cancelTo={back} word="Cerrar" />
    </Dialog>
  );
}

const Ways = ({ ways }: { ways: { to: string; name: string; what: string }[] }) =>
  ways.map(({ to, name, what }) => (
    <li key={to} className="row">
      <div>
        <a className="title" href={to} download>
          {name}
        </a>
        <p className="line">{what}</p>
      </div>
    </li>
  ));
