import { digitalSource } from "../../process/text/digital-source.ts";

/** XMP with IPTC's term for where an image comes from (iptc.org/std/photometadata/specification, «Digital Source Type»). */
const xmpOf = (term: string) =>
  `<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/" Iptc4xmpExt:DigitalSourceType="${term}"/></rdf:RDF></x:xmpmeta><?xpacket end="w"?>`;

export const generatedXmp = xmpOf(digitalSource.generated);

/**
 * XMP that a copy of an image has to carry; undefined where nothing in the image says that a model has made it, or part of it. Both
 * XMP and content credentials (C2PA) say so in IPTC's terms. `xmp`: the XMP that a reader has found, as its bytes may be compressed.
 */
export function xmpForCopy(bytes: Buffer, xmp: Buffer | undefined): string | undefined {
  const says = (text: string) => bytes.includes(text) || xmp?.includes(text);
  if (says("compositeWithTrainedAlgorithmicMedia")) return xmpOf(digitalSource.partlyGenerated);
  return says("trainedAlgorithmicMedia") ? generatedXmp : undefined;
}

/** Whether an image carries content credentials: a signature over its bytes by whoever made it (c2pa.org/specifications). */
export const hasCredentials = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes("c2pa");
