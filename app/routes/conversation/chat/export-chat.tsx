import { Dialog, DialogFoot } from "../../../ui/overlays/dialog.tsx";
import type { Route } from "./+types/export-chat";

export const meta: Route.MetaFunction = () => [{ title: "Exportar conversación · Tertulia" }];
export const handle = { dialog: true };

/** The ways in which a chat can be taken along. */
export default function ExportChat({ params }: Route.ComponentProps) {
  const chat = `/conversation/chat/${params.id}`;
  const ways = [
    { to: `${chat}/descargar?formato=markdown`, name: "Markdown", what: "Para leerla o pegarla en otro sitio." },
    { to: `${chat}/descargar?formato=json`, name: "JSON", what: "Para otros programas, con todas las versiones." },
  ];
  return (
    <Dialog title="Exportar conversación" closeTo={chat}>
      <ul className="rows body">
        {ways.map(({ to, name, what }) => (
          <li key={to} className="row">
            <div>
              <a className="title" href={to} download>
                {name}
              </a>
              <p className="line">{what}</p>
            </div>
          </li>
        ))}
        <li className="row">
          <div>
            <a className="title" href={`${chat}/imprimir`} target="_blank" rel="noreferrer">
              Página para imprimir
            </a>
            <p className="line">Entera y sin botones; desde ahí se guarda también como PDF.</p>
          </div>
        </li>
      </ul>
      <DialogFoot cancelTo={chat} word="Cerrar" />
    </Dialog>
  );
}
