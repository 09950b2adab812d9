/** Ten frames of silence as MP3: MPEG 1 layer III, 128 kbit/s, 44.1 kHz, each of 417 bytes. */
export const silentMp3 = Buffer.concat(
  Array.from({ length: 10 }, () => Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), Buffer.alloc(413)])),
);

/** A tenth of a second of a tone as WAV: one channel of 16 bits at 8 kHz. */
export const recording = (() => {
  const rate = 8_000;
  const bytes = Buffer.alloc(44 + rate / 5);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write("WAVEfmt ", 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(rate, 24);
  bytes.writeUInt32LE(rate * 2, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(rate / 5, 40);
  for (let at = 44, n = 0; at < bytes.length; at += 2, n++) bytes.writeInt16LE(Math.sin(n / 3) * 9_000, at);
  return new Uint8Array(bytes);
})();
