/** Why a file is not taken: the sentence says what is wrong with it. */
export class FileRefused extends Error {
  override name = "FileRefused";
}
