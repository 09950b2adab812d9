/** The document can't be read. The message is the sentence for the person. */
export class Unreadable extends Error {
  override name = "Unreadable";
}

export const withPassword = () => new Unreadable("tiene contraseña. Quítasela y vuelve a subirlo.");
export const damaged = (what: string) => new Unreadable(`es ${what} dañado o incompleto: no se puede abrir.`);
/** A reader failed in a way that was not foreseen: the cause is for the log. */
export const confused = (cause: unknown) =>
  new Unreadable("no se puede leer: está dañado, o hecho de una forma que no se conoce.", { cause });
