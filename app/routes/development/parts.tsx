import { type ReactNode, useState } from "react";
import { useLoaderData } from "react-router";
import { Callout, looks } from "../../ui/callout.tsx";
import { Meters } from "../../ui/figures/meters.tsx";
import { barPlot } from "../../ui/figures/plot.server.ts";
import { BarPlot } from "../../ui/figures/plot.tsx";
import { AttachedFile } from "../../ui/forms/attached-file.tsx";
import { Field, SelectField, TextField } from "../../ui/forms/field.tsx";
import { Fields } from "../../ui/forms/fields.tsx";
import { CurrentPasswordField, EmailField, NameField, NewPasswordField } from "../../ui/forms/person-fields.tsx";
import { SearchField } from "../../ui/forms/search-field.tsx";
import { Icon } from "../../ui/icon.tsx";
import { titled } from "../../ui/navigation/page-title.ts";
import { Dialog } from "../../ui/overlays/dialog.tsx";
import { Menu, MenuLink } from "../../ui/overlays/menu.tsx";
import { showToast, Toasts } from "../../ui/overlays/toasts.tsx";
import { TableHead } from "../../ui/table-head.tsx";

// Every part of `app/ui` as it looks, for whoever changes one. `app/routes.ts` has this page in development only.

export const handle = { scripts: true };

export const meta = titled("Partes");

export function loader() {
  const days = Array.from({ length: 14 }, (_, day) => ({
    day: `2026-01-${String(day + 1).padStart(2, "0")}`,
    values: [(day * 7) % 11, (day * 3) % 5],
  }));
  return { plot: barPlot(days) };
}

const refused = {
  values: { wrong: "hola@", name: "Ana" },
  errors: { wrong: "El correo electrónico no está completo. Escríbelo entero, como nombre@ejemplo.es." },
  message: "Algo hay que corregir.",
};

const meters = [
  { name: "Mensajes", used: 12, limit: 40, said: "12 de 40", resets: "Quedan 28 hasta mañana" },
  { name: "Espacio", used: 49, limit: 50, said: "49 MB de 50 MB", resets: "" },
];

const file = {
  id: null,
  name: "Informe de un nombre bastante largo.pdf",
  detail: "PDF, 12 páginas",
  image: false,
  unread: false,
  cut: false,
  reading: false,
  problem: null,
  width: null,
  height: null,
};

export default function Parts() {
  const { plot } = useLoaderData<typeof loader>();
  return (
    <main className="page" id="contenido">
      <Toasts message={undefined} />
      <div className="in document">
        <h1>Partes</h1>
        <Buttons />
        <Part name="Avisos">
          {(Object.keys(looks) as (keyof typeof looks)[]).map((type) => (
            <Callout key={type} type={type}>
              <p>Una frase de tipo «{type}», que dice qué ha pasado o qué se puede hacer.</p>
            </Callout>
          ))}
        </Part>
        <Forms />
        <Part name="Menú y diálogos">
          <Menu id="menu-de-prueba" label="Opciones">
            <MenuLink icon="edit" to="/partes">
              Cambiar el título
            </MenuLink>
            <MenuLink icon="trash" className="danger" to="/partes">
              Eliminar
            </MenuLink>
          </Menu>
          <Opened />
        </Part>
        <Part name="Archivos, medidas y figuras">
          <ul className="attached">
            <AttachedFile file={file} />
          </ul>
          <Meters meters={meters} />
          <BarPlot plot={plot} title="Mensajes" unit={["mensaje", "mensajes"]} series={["Enviados", "Fallidos"]} />
        </Part>
        <Part name="Tablas">
          <table className="table cards">
            <TableHead texts={["Nombre", "Estado"]} numbers={["Tokens"]} actions />
            <tbody>
              <tr>
                <th scope="row">Una fila</th>
                <td data-label="Estado">
                  <span className="badge good">Responde</span>
                </td>
                <td className="num" data-label="Tokens">
                  1.234
                </td>
                <td className="ends">
                  <a className="action" href="/partes">
                    Editar
                  </a>
                </td>
              </tr>
            </tbody>
          </table>
        </Part>
      </div>
    </main>
  );
}

function Part({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section className="mt-7 grid gap-4">
      <h2>{name}</h2>
      {children}
    </section>
  );
}

function Buttons() {
  return (
    <Part name="Botones">
      {["", " small"].map((size) => (
        <p className="buttons" key={size}>
          {["", "primary", "quiet", "danger", "danger sure"].map((look) => (
            <button key={look} type="button" className={`button ${look}${size}`}>
              {look || "button"}
            </button>
          ))}
          <button type="button" className={`button only${size}`}>
            <Icon name="plus" label="Solo un símbolo" />
          </button>
        </p>
      ))}
    </Part>
  );
}

function Forms() {
  return (
    <Part name="Formularios">
      <SearchField q="" label="Buscar" />
      <form className="fields">
        <Fields id="partes" result={refused}>
          <NameField hint="Con una ayuda." />
          <Field name="wrong" label="Un campo con su error" type="email" />
          <EmailField />
          <CurrentPasswordField />
          <NewPasswordField />
          <SelectField name="choice" label="Uno de varios" none="Ninguno" choices={[{ id: "1", name: "El primero" }]} />
          <TextField name="text" label="Texto de varias líneas" />
          <label className="check">
            <input type="checkbox" name="check" /> <span>Una casilla</span>
          </label>
        </Fields>
      </form>
    </Part>
  );
}

function Opened() {
  const [kind, setKind] = useState<"form" | "alert" | "panel">();
  const close = () => setKind(undefined);
  return (
    <p className="buttons">
      {(["form", "alert", "panel"] as const).map((each) => (
        <button key={each} type="button" className="button" onClick={() => setKind(each)}>
          Diálogo {each}
        </button>
      ))}
      {(Object.keys(looks) as (keyof typeof looks)[]).map((type) => (
        <button key={type} type="button" className="button" onClick={() => showToast({ type, title: `Un ${type}.` })}>
          Toast {type}
        </button>
      ))}
      {kind && (
        <Dialog title="Un diálogo" kind={kind} onClose={close}>
          <div className="body">
            <p>Se cierra con Escape, con el aspa y pulsando fuera.</p>
          </div>
          <div className="foot">
            <button type="button" className="button primary" onClick={close}>
              Cerrar
            </button>
          </div>
        </Dialog>
      )}
    </p>
  );
}
