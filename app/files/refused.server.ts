/** A file was refused; the message is the Spanish sentence that says why. */
export class FileRefused extends Error {
  override name = "FileRefused";
}
