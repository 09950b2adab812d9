// The names of file-type, and those of the web.
const mediaTypes = new Map([
  ["audio/mpeg", "audio/mpeg"],
  ["audio/wav", "audio/wav"],
  ["audio/vnd.wave", "audio/wav"],
  ["audio/ogg", "audio/ogg"],
  ["audio/aac", "audio/aac"],
  ["audio/flac", "audio/flac"],
  ["audio/x-flac", "audio/flac"],
]);

/** The media type of a sound, from its first bytes; undefined if it is none that browsers play. */
export async function soundTypeOf(head: Uint8Array): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import("file-type");
  const mime = (await fileTypeFromBuffer(head))?.mime.split(";", 1)[0] ?? "";
  return mediaTypes.get(mime);
}

/** Several sounds of one type, one after the other; undefined if they can't be joined. */
export function joinedSound(sounds: Buffer[], mediaType: string): Buffer | undefined {
  // The frames of MP3 and AAC need no container, and Ogg's streams may follow each other (RFC 3533, 4).
  if (mediaType === "audio/wav") return joinedWaves(sounds);
  return mediaType !== "audio/flac" || sounds.length === 1 ? Buffer.concat(sounds) : undefined;
}

// Of RIFF: «RIFF», the size, «WAVE».
const headSize = 12;

/** WAV files of one format as one. Servers that stream write no true sizes, so they are counted here. */
function joinedWaves(files: Buffer[]): Buffer | undefined {
  const waves = files.map((file) => ({ format: chunkOf(file, "fmt "), samples: chunkOf(file, "data") }));
  const format = waves[0]?.format;
  if (!format || !waves.every((one) => one.format?.equals(format) && one.samples)) return undefined;
  const samples = Buffer.concat(waves.flatMap((one) => one.samples ?? []));
  const body = Buffer.concat([Buffer.from("WAVE"), withHead("fmt ", format), withHead("data", samples)]);
  return withHead("RIFF", body);
}

function withHead(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, 0, "latin1");
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content]);
}

/** The content of the first chunk of a name; one that says to be longer than the file ends with it. */
function chunkOf(file: Buffer, name: string): Buffer | undefined {
  for (let at = headSize; at + 8 <= file.length; ) {
    const size = file.readUInt32LE(at + 4);
    const isAsked = file.toString("latin1", at, at + 4) === name;
    // A stream's samples have the size 0 or the largest one.
    if (isAsked) return file.subarray(at + 8, size === 0 ? file.length : at + 8 + size);
    at += 8 + size + (size % 2);
  }
  return undefined;
}
