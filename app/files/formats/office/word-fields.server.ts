// Length of an instruction that is read: an address, with what programs write around it.
const instructionAtMost = 2_000;

/** Open fields of a Word document (ECMA-376, part 1, 17.16.18): each has an instruction, which is not shown, and then its result. */
export class WordFields {
  #open: { instruction: string; isResult: boolean }[] = [];
  #instructions = 0;

  /** Whether the instruction of a field is open, also of one around this place. */
  get isInstruction(): boolean {
    return this.#instructions > 0;
  }

  begin(): void {
    this.#open.push({ instruction: "", isResult: false });
    this.#instructions++;
  }

  instruct(text: string): void {
    const field = this.#open.at(-1);
    if (field && !field.isResult && field.instruction.length < instructionAtMost) field.instruction += text;
  }

  /** Begins the result. Returns the address that the field leads to, if it does. */
  separate(): string | undefined {
    const field = this.#open.at(-1);
    if (!field || field.isResult) return undefined;
    field.isResult = true;
    this.#instructions--;
    return addressIn(field.instruction);
  }

  /** Ends a field. Returns whether its result led to an address. */
  end(): boolean {
    const field = this.#open.pop();
    if (field && !field.isResult) this.#instructions--;
    return field?.isResult === true && addressIn(field.instruction) !== undefined;
  }

  /** A field whose instruction does not end with its paragraph is broken, and hides nothing more. */
  endParagraph(): void {
    if (this.isInstruction) [this.#open, this.#instructions] = [[], 0];
  }
}

/** The address of an instruction such as `HYPERLINK "https://…" \o "…"`; undefined for places in the document and other instructions. */
export function addressIn(instruction = ""): string | undefined {
  const [, quoted, bare] = /^\s*HYPERLINK\s+(?:"([^"]+)"|([^\s"\\]\S*))/i.exec(instruction) ?? [];
  return quoted ?? bare;
}
