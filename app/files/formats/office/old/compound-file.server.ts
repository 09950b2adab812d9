/** Streams of a compound file (MS-CFB), as Office wrote its documents until 2003, by their paths such as «ObjectPool/_1/Workbook». */
export type CompoundFile = Map<string, Buffer>;

/** Throws the library's plain errors where the file is damaged. */
export async function openCompoundFile(bytes: Buffer): Promise<CompoundFile> {
  const { CFB } = await import("@e965/xlsx");
  const { FullPaths, FileIndex }: { FullPaths: string[]; FileIndex: { content?: Uint8Array | number[] }[] } = CFB.read(
    bytes,
    { type: "buffer" },
  );
  return new Map(
    FullPaths.map((path, n) => [path.slice(path.indexOf("/") + 1), Buffer.from(FileIndex[n]?.content ?? [])]),
  );
}

/** One part of the file; `otherwise` where it points beyond the end, so that the text is read without it. */
export function readPart<Part>(read: () => Part, otherwise: Part): Part {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return otherwise;
    throw error;
  }
}

// Mark of the last sector of a chain, and marks of sectors that are in none.
const endOfChain = 0xfffffffa;
const directorySectorsAtMost = 10_000;

/**
 * The directory of a compound file (MS-CFB, 2.6): the names of its parts, and not those of files that it holds, such as the attachments of an
 * e-mail. A file whose table of sectors is damaged is its own directory.
 */
export function directoryOf(bytes: Buffer): Buffer {
  return readPart(() => {
    const size = 1 << bytes.readUInt16LE(30);
    const sector = (number: number) => bytes.subarray((number + 1) * size, (number + 2) * size);
    const sectors: Buffer[] = [];
    for (let number = bytes.readUInt32LE(48); number < endOfChain && sectors.length < directorySectorsAtMost; ) {
      sectors.push(sector(number));
      // Each sector of the table holds the followers of so many sectors; the first 109 are listed in the head.
      const table = bytes.readUInt32LE(76 + 4 * Math.floor(number / (size / 4)));
      number = sector(table).readUInt32LE(4 * (number % (size / 4)));
    }
    return Buffer.concat(sectors);
  }, bytes);
}
