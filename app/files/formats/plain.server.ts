/** Decodes UTF-8, UTF-16 with a BOM, or Windows-1252, which Spanish spreadsheets still write. */
export function plainText(bytes: Uint8Array): string {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** The text of a page by what it says of its characters. */
export function declaredText(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 2_000)).toString("latin1");
  const [, said] = /<meta[^>]+charset=["']?([\w-]+)/i.exec(head) ?? [];
  try {
    return said ? new TextDecoder(said).decode(bytes) : plainText(bytes);
  } catch {
    return plainText(bytes);
  }
}
