/** A file was refused; the message is the Spanish sentence that says why. */
export class FileRefused extends Error {
  override name = "FileRefused";
}

/** The file does not fit into its owner's plan, which may have room another time. */
export class NoRoom extends FileRefused {
  override name = "NoRoom";
}
