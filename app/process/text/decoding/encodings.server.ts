// The upper halves of the encodings of DOS, which no decoder of Node knows.
const dos = new Map(
  Object.entries({
    cp437:
      "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0",
    cp850:
      "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0",
  }),
);
const labels = new Map(
  Object.entries({
    "437": "cp437",
    "850": "cp850",
    "858": "cp850",
    "874": "windows-874",
    "932": "shift_jis",
    "936": "gbk",
    "949": "euc-kr",
    "950": "big5",
    "10000": "macintosh",
    "10007": "x-mac-cyrillic",
    "65001": "utf-8",
  }),
);

/** Name of the encoding that Windows knows by this number. */
export const encodingOf = (codePage: string): string => labels.get(codePage) ?? `windows-${codePage}`;

/** Decodes text by the name of its encoding, also those of DOS; as Windows-1252 if the name is not known. */
export function decoded(bytes: Uint8Array, encoding: string): string {
  const upper = dos.get(encoding);
  if (upper) {
    // Bytes above ASCII stand for themselves in Latin-1.
    const latin1 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
    return latin1.replace(/[\x80-\xff]/g, (sign) => upper[sign.charCodeAt(0) - 128] ?? sign);
  }
  try {
    return new TextDecoder(encoding).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}
