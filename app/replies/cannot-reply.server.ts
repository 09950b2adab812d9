/** Thrown where the messages as they are now allow no reply: the sentence says why. */
export class CannotReply extends Error {
  readonly field: string;
  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}
