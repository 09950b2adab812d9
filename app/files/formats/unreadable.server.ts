/** The document can't be read. The message is the sentence for the person. */
export class Unreadable extends Error {
  override name = "Unreadable";
}

export const withPassword = () => new Unreadable("tiene contraseña. Quítasela y vuelve a subirlo.");
/** `what`: with its article, such as «un DOCX» or «una hoja de cálculo». */
export const damaged = (what: string) => {
  const ending = what.startsWith("una ") ? "a" : "o";
  return new Unreadable(`es ${what} dañad${ending} o incomplet${ending}: no se puede abrir.`);
};
/** A reader failed in a way that was not foreseen: the cause is for the log. */
export const confused = (cause: unknown) =>
  new Unreadable("no se puede leer: está dañado, o hecho de una forma que no se conoce.", { cause });
