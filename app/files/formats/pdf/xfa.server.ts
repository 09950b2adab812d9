import { inflateSync } from "node:zlib";
import { type Element, elementsIn, elementsOf, textWithin, treeOf } from "../../../process/text/xml.server.ts";

// Of a file, and in bytes of one stream: a form keeps its answers in one.
const streamsAtMost = 2_000;
const streamAtMost = 8 * 1024 * 1024;
const answersAtMost = 5_000;

type Answer = { name: string; answer: string };

/**
 * Answers of an XFA form (Adobe XML Forms Architecture 3.3) with the names of their fields. The file has them in a stream of XML, which
 * pdf.js does not give. Empty if there are none, as in an encrypted file.
 */
export function answersInXfa(bytes: Uint8Array): Answer[] {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  for (let n = 0; n < streamsAtMost; n++) {
    const from = file.indexOf("stream", at);
    if (from < 0) break;
    const end = file.indexOf("endstream", from + 6);
    if (end < 0) break;
    at = end + 9;
    const xml = textOf(file.subarray(from + 6, end));
    if (!xml.includes("<xfa:data")) continue;
    const [data] = elementsIn(treeOf(xml), "xfa:data");
    if (data) return answersIn(data).slice(0, answersAtMost);
  }
  return [];
}

/** Text of a stream, which is packed or not; empty if it is no text. */
function textOf(stream: Buffer): string {
  // The line that ends the word before it.
  const content = stream.subarray(stream[0] === 13 ? 2 : 1);
  if (content.length > streamAtMost) return "";
  if (content.subarray(0, 200).includes("<")) return content.toString("utf8");
  try {
    return inflateSync(content, { maxOutputLength: streamAtMost }).toString("utf8");
  } catch {
    return "";
  }
}

function answersIn(element: Element): Answer[] {
  return elementsOf(element).flatMap((child) => {
    if (elementsOf(child).length > 0) return answersIn(child);
    const answer = textWithin(child).replace(/\s+/g, " ").trim();
    return answer ? [{ name: nameOf(child.name), answer }] : [];
  });
}

/** «nombreYApellidos» and «nombre_y_apellidos» as words. */
const nameOf = (name: string) =>
  name
    .replace(/^.*:/, "")
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .replace(/_+/g, " ")
    .trim();
