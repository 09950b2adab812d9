import { Form, Link } from "react-router";
import { blankField } from "../../../process/text/blanks.ts";

type Props = { id: string; title: string; blanks: string[] };

/** Asks for the texts of a template's blanks; the filled template comes into the composer, where it can still be changed. */
export function Blanks({ id, title, blanks }: Props) {
  return (
    <Form className="fields mt-5" action="/conversation/chat" aria-label={`Rellenar «${title}»`}>
      <input type="hidden" name="plantilla" value={id} />
      <input type="hidden" name="rellena" value="1" />
      <h2>{title}</h2>
      {blanks.map((name, index) => (
        <div className="field" key={name}>
          <label htmlFor={`hueco-${index}`}>{name}</label>
          <input className="input" id={`hueco-${index}`} name={blankField(name)} size={40} maxLength={1_000} />
        </div>
      ))}
      <p className="buttons">
        <button type="submit" className="button primary">
          Ponerla en el mensaje
        </button>
        <Link className="button" to="/conversation/chat">
          Cancelar
        </Link>
      </p>
    </Form>
  );
}
