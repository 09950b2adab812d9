/** A bucket of an S3 store. `prefix` is empty or ends in `/`; without `endpoint` it is AWS; without `keys`, those of the machine. */
export type BucketSettings = {
  bucket: string;
  prefix: string;
  endpoint: string | undefined;
  region: string;
  keys: { accessKeyId: string; secretAccessKey: string; sessionToken?: string } | undefined;
};

/** Self-hosted stores have no regions, but the signature names a region. */
const anyRegion = "us-east-1";

/**
 * Reads `s3://bucket/prefix?endpoint=https://…&region=…`, the setting `name`. Returns a sentence if the setting is wrong. Without an
 * endpoint the region is required.
 */
export function readStorageUrl(text: string, name = "STORAGE_URL"): Omit<BucketSettings, "keys"> | string {
  const url = URL.parse(text);
  if (url?.protocol !== "s3:" || !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(url.hostname)) {
    return `${name} tiene la forma s3://contenedor?endpoint=https://…&region=…`;
  }
  if (url.username || url.password) {
    return `${name} no lleva las claves: van en AWS_ACCESS_KEY_ID y AWS_SECRET_ACCESS_KEY`;
  }
  const unknown = [...url.searchParams.keys()].find((name) => name !== "endpoint" && name !== "region");
  if (unknown) return `${name} solo entiende endpoint y region, no «${unknown}»`;
  const endpoint = url.searchParams.get("endpoint") || undefined;
  const region = url.searchParams.get("region") || undefined;
  if (endpoint && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? "")) {
    return `El endpoint de ${name} tiene que ser una dirección http o https`;
  }
  if (!endpoint && !region) return `${name} necesita region (o endpoint, si el almacén no es el de AWS)`;
  const folder = url.pathname.replace(/^\/+|\/+$/g, "");
  return { bucket: url.hostname, prefix: folder && `${decodeURI(folder)}/`, endpoint, region: region ?? anyRegion };
}
