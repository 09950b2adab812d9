import { inflateRawSync } from "node:zlib";
import { decoded } from "../../process/text/decoding/encodings.server.ts";

/** An entry of a ZIP as its directory lists it (APPNOTE 4.3.12). `data`: bytes as they are stored, undefined if they aren't there. */
export type ZipEntry = { name: string; method: number; isEncrypted: boolean; data: Buffer | undefined };

const endMark = 0x06054b50;
const entryMark = 0x02014b50;
const localMark = 0x04034b50;
// The directory's end may have a comment of 64 kB after it.
const endWithin = 22 + 0xffff;
const stretched = 0xffffffff;
const zip64 = 0x0001;
const unicodePath = 0x7075;

/** The entries of a ZIP; undefined if it has no directory, as when its end is missing. */
export function zipEntries(bytes: Buffer): ZipEntry[] | undefined {
  const entries: ZipEntry[] = [];
  try {
    const end = endOf(bytes);
    if (end === undefined) return undefined;
    let at = end;
    while (bytes.readUInt32LE(at) === entryMark) {
      const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset));
      const name = bytes.subarray(at + 46, at + 46 + (nameLength ?? 0));
      const extra = extraFields(bytes.subarray(at + 46 + name.length, at + 46 + name.length + (extraLength ?? 0)));
      const flags = bytes.readUInt16LE(at + 8);
      entries.push({
        name: nameOf(name, (flags & 0x800) !== 0, bytes.readUInt8(at + 5), extra.get(unicodePath)),
        method: bytes.readUInt16LE(at + 10),
        ...storedAt(bytes, at, extra.get(zip64)),
      });
      at += 46 + name.length + (extraLength ?? 0) + (commentLength ?? 0);
    }
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  return entries;
}

// Ways in which an entry is stored (APPNOTE 4.4.5). The others are a tenth of a percent of what people send.
const stored = 0;
const deflated = 8;

/** Content of an entry of up to `room` bytes, whatever size it declares; else the reason why there is no content. */
export function contentOf(
  { method, isEncrypted, data }: ZipEntry,
  room: number,
): Buffer | "encrypted" | "unknown" | "damaged" | "large" {
  if (isEncrypted) return "encrypted";
  if (method !== stored && method !== deflated) return "unknown";
  if (!data) return "damaged";
  if (method === stored) return data.length > room ? "large" : data;
  try {
    const content = inflateRawSync(data, { maxOutputLength: Math.max(1, room) });
    return content.length > room ? "large" : content;
  } catch (error) {
    return error instanceof RangeError ? "large" : "damaged";
  }
}

/** Place at which the directory begins. */
function endOf(bytes: Buffer): number | undefined {
  for (let at = bytes.length - 22; at >= Math.max(0, bytes.length - endWithin); at--) {
    if (bytes.readUInt32LE(at) !== endMark) continue;
    // Counted back from its end: offsets are wrong where bytes stand before the archive.
    const start = at - bytes.readUInt32LE(at + 12);
    if (start >= 0 && bytes.readUInt32LE(start) === entryMark) return start;
    const said = bytes.readUInt32LE(at + 16);
    if (said + 4 <= bytes.length && bytes.readUInt32LE(said) === entryMark) return said;
  }
  return undefined;
}

function extraFields(extra: Buffer): Map<number, Buffer> {
  const fields = new Map<number, Buffer>();
  for (let at = 0; at + 4 <= extra.length; ) {
    const length = extra.readUInt16LE(at + 2);
    fields.set(extra.readUInt16LE(at), extra.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return fields;
}

/** A name without its flag for UTF-8 is in UTF-8 on a Mac, and in the encoding of DOS on Windows. */
function nameOf(name: Buffer, isUtf8: boolean, host: number, unicode: Buffer | undefined): string {
  // The first 5 bytes of the Unicode field are its version and a checksum of the plain name.
  if (unicode && unicode.length > 5) return unicode.toString("utf8", 5);
  if (!isUtf8) {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(name);
    } catch {
      return decoded(name, host === 3 ? "windows-1252" : "cp850");
    }
  }
  return name.toString("utf8");
}

/** The data of the entry that the directory has at this place, and whether it is encrypted: the entry's own header may say so, too. */
function storedAt(bytes: Buffer, at: number, long: Buffer | undefined): Pick<ZipEntry, "data" | "isEncrypted"> {
  const isEncrypted = (bytes.readUInt16LE(at + 8) & 1) !== 0;
  let [size = 0, offset = 0] = [bytes.readUInt32LE(at + 20), bytes.readUInt32LE(at + 42)];
  let next = bytes.readUInt32LE(at + 24) === stretched ? 8 : 0;
  if (size === stretched && long && long.length >= next + 8) {
    size = Number(long.readBigUInt64LE(next));
    next += 8;
  }
  if (offset === stretched && long && long.length >= next + 8) offset = Number(long.readBigUInt64LE(next));
  if (offset + 30 > bytes.length || bytes.readUInt32LE(offset) !== localMark) return { isEncrypted, data: undefined };
  const start = offset + 30 + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28);
  return {
    isEncrypted: isEncrypted || (bytes.readUInt16LE(offset + 6) & 1) !== 0,
    data: start + size <= bytes.length ? bytes.subarray(start, start + size) : undefined,
  };
}
