// Characters of an address that is said: longer ones are made by programs, to follow people.
const addressAtMost = 300;
const saidAtMost = 1_000;

/**
 * The links of a text. Their addresses are said behind their words, unless the words say them. Programs write one link as several that
 * follow each other, so a link ends only before words that lead elsewhere.
 */
export class Links {
  /** The words that follow lead there; undefined for words without a link. */
  address: string | undefined;
  #open: { address: string; said: string } | undefined;

  /** Words that follow lead to this address, or nowhere. */
  lead(address: string | undefined): void {
    this.address = address;
  }

  /** Address of the link that ends before these words, to be written there; empty if none does. A line ends with no words. */
  before(words: string): string {
    const ended = this.#open && this.#open.address !== this.address ? behind(this.#open, words) : "";
    if (this.#open?.address !== this.address) this.#open = undefined;
    if (this.address) {
      this.#open ??= { address: this.address, said: "" };
      if (this.#open.said.length < saidAtMost) this.#open.said += words;
    }
    return ended;
  }
}

function behind({ said, address }: { said: string; address: string }, next: string): string {
  const written = address.trim().replace(/\s/g, "%20");
  const place = /^mailto:([^?]+)/i.exec(written)?.[1] ?? /^https?:\/\/.+$/i.exec(written)?.[0];
  if (!place || place.length > addressAtMost || said.trim() === "") return "";
  const bare = place
    .replace(/^https?:\/\/(?:www\.)?/i, "")
    .replace(/\/$/, "")
    .toLowerCase();
  const words = said.replace(/\s+/g, "").toLowerCase();
  // A name without a dot, as of a machine in an office, may be part of a word.
  if (bare.includes(".") ? words.includes(bare) : words === bare) return "";
  return ` (${place})${/\s$/.test(said) || /^[\p{L}\p{N}]/u.test(next) ? " " : ""}`;
}
