import { useLocation } from "react-router";
import { titled } from "../../ui/navigation/page-title.ts";
import { Dialog, DialogFoot } from "../../ui/overlays/dialog.tsx";

export const meta = titled("Ayuda");
export const handle = { dialog: true };

const keys = [
  ["Enter", "Envía el mensaje"],
  ["Mayús + Enter", "Empieza otra línea"],
  ["Esc", "Cierra el diálogo de encima"],
  ["Alt + Mayús + B", "Busca en tus conversaciones"],
  ["Alt + Mayús + N", "Empieza una conversación"],
  ["Alt + Mayús + D", "Detiene la respuesta"],
  ["Alt + Mayús + C", "Copia el último bloque de código"],
];
const marks = [
  ["**negrita**", "Texto en negrita"],
  ["*cursiva*", "Texto en cursiva"],
  ["`código`", "Código en la línea"],
  ["```", "Encima y debajo de un bloque de código"],
  ["> cita", "Una cita"],
  ["- punto", "Una lista"],
  ["$x^2$", "Una fórmula"],
];

/** Help on keys and on the format of messages, in a panel beside the current page. */
export default function Help() {
  const { from }: { from?: string } = useLocation().state ?? {};
  return (
    <Dialog title="Ayuda" closeTo={from ?? "/user"} kind="panel">
      <div className="body">
        <h3 className="plot-title">Teclas</h3>
        <Terms terms={keys} />
        <p className="hint mt-4">Estas teclas necesitan JavaScript. Sin él, todo va con botones y enlaces.</p>
        <h3 className="plot-title mt-8">Formato de los mensajes</h3>
        <Terms terms={marks} />
        <p className="mt-8">
          ¿Algo no va bien? <a href="/soporte">Escribe a soporte</a>.
        </p>
      </div>
      <DialogFoot cancelTo={from ?? "/user"} word="Cerrar" />
    </Dialog>
  );
}

function Terms({ terms }: { terms: string[][] }) {
  return (
    <dl className="terms">
      {terms.map(([term, meaning]) => (
        <div key={term}>
          <dt>
            <kbd>{term}</kbd>
          </dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
  );
}
