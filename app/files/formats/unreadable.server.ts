/** The document can't be read. The message is the sentence for the person. */
export class Unreadable extends Error {
  override name = "Unreadable";
}

export const withPassword = () => new Unreadable("tiene contraseña. Quítasela y vuelve a subirlo.");
export const damaged = (what: string) => new Unreadable(`es ${what} dañado o incompleto: no se puede abrir.`);
