import { openArchive } from "../../archive.server.ts";
import { Unreadable } from "../../unreadable.server.ts";
import { objectRows } from "../drawings.server.ts";
import { sheetsText } from "../sheets.server.ts";
import type { CompoundFile } from "./compound-file.server.ts";

// In characters: of one object, which is a chart or a small sheet.
const room = 20_000;
const objectsAtMost = 100;
// Streams that hold a sheet or chart, of Excel until 2003, of Office since then, and of LibreOffice.
const held = /(?:^|\/)(?:Workbook|Book|Package|package_stream)$/i;

/** Charts and sheets that stand in an old document as objects of their own, each as text. An object that can't be read is left out. */
export async function objectsIn(file: CompoundFile): Promise<string[]> {
  const objects = [...file].filter(([path]) => held.test(path)).slice(0, objectsAtMost);
  const texts: string[] = [];
  for (const [, bytes] of objects) texts.push(await objectText(bytes));
  return texts.filter(Boolean);
}

async function objectText(bytes: Buffer): Promise<string> {
  try {
    const isArchive = bytes.subarray(0, 2).toString("latin1") === "PK";
    const rows = isArchive ? objectRows(openArchive(bytes, "una hoja de cálculo"), "content.xml") : [];
    if (rows.length > 0) return rows.map((row) => row.join(" | ")).join("\n");
    return (await sheetsText(bytes, room)).slice(0, room);
  } catch (error) {
    if (error instanceof Unreadable) return "";
    throw error;
  }
}
