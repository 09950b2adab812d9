/** Thrown where the messages as they are now allow no reply: the sentence says why. */
export class CannotReply extends Error {
  readonly field: string;
  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/** Thrown where another reply is being written in the chat. */
export class Busy extends CannotReply {
  constructor() {
    super("parentId", "Espera a que termine la respuesta en curso o detenla.");
  }
}
