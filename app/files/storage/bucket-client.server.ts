import { S3Client } from "@aws-sdk/client-s3";
import type { BucketSettings } from "../../process/storage-url.server.ts";

// In ms.
const connect = 5_000;

/** Client of the store of a bucket. `requestTimeout` in ms: how long an answer may take. */
export const clientOf = ({ endpoint, region, keys }: BucketSettings, requestTimeout: number) =>
  new S3Client({
    region,
    // Only AWS has a host name for each bucket.
    ...(endpoint && { endpoint, forcePathStyle: true }),
    // Without keys, the SDK looks for those of the machine (roles, profiles).
    ...(keys && { credentials: keys }),
    // The newer checksums are refused by stores that don't know them.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    maxAttempts: 2,
    // Failures are thrown, and logged in one place.
    logger: { trace() {}, debug() {}, info() {}, warn() {}, error() {} },
    requestHandler: { connectionTimeout: connect, requestTimeout, throwOnRequestTimeout: true },
  });
