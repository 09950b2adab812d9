import { readFileSync } from "node:fs";
import sharp from "sharp";
import { answerJob } from "../../process/child-process-entry.ts";
import { Unreadable } from "../formats/unreadable.server.ts";
import { decodePicture } from "./decode-picture.server.ts";

export type DecodeJob = { path: string; mediaType: string };
export type DecodeAnswer = { png: Uint8Array } | { refused: string };

answerJob(async ({ path, mediaType }: DecodeJob): Promise<DecodeAnswer> => {
  try {
    const { data, width, height } = await decodePicture(readFileSync(path), mediaType);
    return {
      png: await sharp(data, { raw: { width, height, channels: 4 } })
        .png({ compressionLevel: 1 })
        .toBuffer(),
    };
  } catch (error) {
    if (error instanceof Unreadable) return { refused: error.message };
    throw error;
  }
});
