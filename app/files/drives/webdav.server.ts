import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { limits } from "../../process/limits.ts";
import { recordOf } from "../../process/text/json.ts";
import { unescaped } from "../../process/text/unescaped.ts";
import { parseXml } from "../../process/text/xml.server.ts";

/** Account at a server of files; `address` ends with a slash. */
export type Account = { address: string; username: string; password: string };
/** Folder or file as its server lists it. `path`: from the root of the account. `tag` changes with the content. */
export type Entry = { path: string; isFolder: boolean; size: number | undefined; tag: string };

type Refusing = ErrorOptions & { refused?: boolean; ofPassword?: boolean };

/**
 * A server of files has not done as it was asked; the message is a sentence for people. `refused`: the server answers, and does not
 * let this account read the file or folder (any more), or does not have it.
 */
export class DriveRefused extends Error {
  override name = "DriveRefused";
  readonly refused: boolean;
  /** Whether the server does not take the password. */
  readonly ofPassword: boolean;
  constructor(sentence: string, { refused = false, ofPassword = false, ...options }: Refusing = {}) {
    super(sentence, options);
    this.refused = refused;
    this.ofPassword = ofPassword;
  }
}

// In ms, for one answer.
const patience = 20_000;
const downloadPatience = 120_000;
// Characters of a list: some four thousand names. A list is parsed at once.
const listAtMost = 2 * 1024 * 1024;

const asksFor = `<?xml version="1.0"?><d:propfind xmlns:d="DAV:"><d:prop>
<d:resourcetype/><d:getcontentlength/><d:getetag/><d:getlastmodified/></d:prop></d:propfind>`;

/** Entries of one folder. Throws DriveRefused. */
export async function listFolder(account: Account, path: string, signal: AbortSignal): Promise<Entry[]> {
  const headers = { Depth: "1", "Content-Type": "application/xml" };
  const url = addressOf(account, path, true);
  const answer = await ask(account, url, { method: "PROPFIND", headers, body: asksFor }, within(patience, signal));
  if (answer.status !== 207) {
    await answer.body?.cancel();
    throw refusal(answer, "esa carpeta");
  }
  const root = new URL(account.address).pathname;
  const entries = entriesIn(await textUpTo(answer, listAtMost), url, root);
  // A list names its own folder, too (RFC 4918, 9.1): an answer without it is no list.
  if (!entries.some((entry) => entry.path === path)) throw noList();
  const steps = path === "" ? 1 : path.split("/").length + 1;
  // Some servers list what lies deeper as well, or elsewhere.
  return entries.filter(
    (entry) => entry.path.startsWith(path && `${path}/`) && entry.path.split("/").length === steps && entry.path !== "",
  );
}

/**
 * Puts a file of an account at `to`; returns its size in bytes. Storing stops after the chunk that exceeds `most`. Throws DriveRefused.
 */
export async function download(
  account: Account,
  path: string,
  { to, most, signal }: { to: string; most: number; signal: AbortSignal },
): Promise<number> {
  const answer = await ask(account, addressOf(account, path, false), {}, within(downloadPatience, signal));
  if (answer.status !== 200 || !answer.body) {
    await answer.body?.cancel();
    throw refusal(answer, "ese archivo");
  }
  let size = 0;
  async function* upTo(body: AsyncIterable<Uint8Array>) {
    for await (const chunk of body) {
      size += chunk.length;
      yield chunk;
      if (size > most) return;
    }
  }
  await pipeline(upTo(answer.body), createWriteStream(to)).catch(unreached);
  return size;
}

/**
 * Address by which the files of an account are reached, ending with a slash: a Nextcloud or ownCloud is known by its `status.php`, and
 * has the files below its own address. Throws DriveRefused if no server of files answers.
 */
export async function findAddress(given: string): Promise<string> {
  const address = withSlash(given);
  const signal = AbortSignal.timeout(patience);
  const status = await ask(undefined, new URL("status.php", address).href, {}, signal);
  const said = status.ok ? await textUpTo(status, 10_000).then(parsed) : await status.body?.cancel();
  if (recordOf(said)?.installed !== undefined) return new URL("remote.php/webdav/", address).href;
  const answer = await ask(undefined, address, { method: "PROPFIND", headers: { Depth: "0" } }, signal);
  await answer.body?.cancel();
  if (answer.status === 207 || answer.status === 401) return address;
  throw refusal(answer, "esa dirección");
}

/** An address that ends with a slash. */
export const withSlash = (address: string): string => (address.endsWith("/") ? address : `${address}/`);

const within = (ms: number, signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(ms)]);

/** Address of a path, always below the account's address. Throws DriveRefused. */
function addressOf({ address }: Account, path: string, isFolder: boolean): string {
  const steps = path.toWellFormed().split("/").map(encodeURIComponent).join("/");
  const url = new URL(`./${steps}${isFolder && path ? "/" : ""}`, address).href;
  if (url.startsWith(address) && address.endsWith("/")) return url;
  throw new DriveRefused("En el servidor no está esa carpeta.", { refused: true });
}

async function ask(account: Account | undefined, url: string, init: RequestInit, signal: AbortSignal) {
  const credentials = account && Buffer.from(`${account.username}:${account.password}`).toString("base64");
  const headers = { ...init.headers, ...(credentials && { Authorization: `Basic ${credentials}` }) };
  // A redirect is not followed: the password would go along.
  return fetch(url, { ...init, headers, signal, redirect: "manual" }).catch(unreached);
}

function unreached(cause: unknown): never {
  const name = cause instanceof Error ? cause.name : "";
  throw new DriveRefused(
    name === "TimeoutError" ? "El servidor tarda demasiado en contestar." : "No se ha podido llegar al servidor.",
    { cause },
  );
}

function refusal({ status, headers }: Response, what: string): DriveRefused {
  const way = headers.get("WWW-Authenticate") ?? "";
  if (status === 401 && way && !/\bbasic\b/i.test(way)) {
    return new DriveRefused(
      `El servidor pide entrar de otra manera (${way.slice(0, 40).split(" ")[0]}): aquí se entra con usuario y contraseña (Basic).`,
      { refused: true },
    );
  }
  if (status === 401)
    return new DriveRefused("El servidor no acepta ese usuario con esa contraseña.", {
      refused: true,
      ofPassword: true,
    });
  if (status === 403) return new DriveRefused(`El servidor no te deja leer ${what}.`, { refused: true });
  if (status === 404) return new DriveRefused(`En el servidor no está ${what}.`, { refused: true });
  if (status >= 300 && status < 400) {
    const leadsTo = headers.get("Location");
    return new DriveRefused(`Esa dirección lleva a otra${leadsTo ? ` (${leadsTo.slice(0, 200)})` : ""}.`);
  }
  if (status === 405 || status === 501 || status === 200)
    return new DriveRefused("En esa dirección no contesta ningún servidor de archivos (WebDAV).");
  return new DriveRefused(`El servidor ha contestado ${status}.`);
}

async function textUpTo(answer: Response, most: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of answer.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > most) throw new DriveRefused("Esa carpeta tiene demasiados archivos. Elige una de dentro.");
    }
  } catch (error) {
    if (error instanceof DriveRefused) throw error;
    unreached(error);
  }
  return text;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const noList = () => new DriveRefused("El servidor no ha contestado con la lista de esa carpeta.");

// No list is nested deeper; searching for the end of tags that never end would block the thread.
const deepest = 20;

/** Entries in a multistatus (RFC 4918, 14.16), whatever prefix its server has for DAV's names; without entries outside the account. */
function entriesIn(xml: string, url: string, root: string): Entry[] {
  // A list that was cut off names only some entries; the missing ones are not gone.
  if (!/<\/(?:[\w-]{1,20}:)?multistatus\s{0,20}>\s*$/i.test(xml.slice(-1_000))) throw noList();
  const entries: Entry[] = [];
  let at = "";
  let depth = 0;
  let entry = emptyEntry();
  parseXml(xml, {
    open(name) {
      if (++depth > deepest) throw noList();
      at = localName(name);
      if (at === "response") entry = emptyEntry();
      if (at === "collection") entry.isFolder = true;
    },
    text(text) {
      if (at in entry.texts) entry.texts[at as keyof typeof entry.texts] += text;
    },
    close(name) {
      depth--;
      at = "";
      if (localName(name) !== "response") return;
      const { href, getcontentlength, getetag, getlastmodified } = entry.texts;
      const path = pathOf(href.trim(), url, root);
      if (path === undefined || path.length > limits.folderPath) return;
      const size = /^\s*\d{1,15}\s*$/.test(getcontentlength) ? Number(getcontentlength) : undefined;
      const tag = getetag.trim() || `${getlastmodified.trim()} ${size ?? ""}`;
      entries.push({ path, isFolder: entry.isFolder, size, tag: tag.replace(/\p{Cc}/gu, "").slice(0, 200) });
    },
  });
  return entries;
}

const emptyEntry = () => ({
  isFolder: false,
  texts: { href: "", getcontentlength: "", getetag: "", getlastmodified: "" },
});
const localName = (name: string) => name.slice(name.indexOf(":") + 1).toLowerCase();

/** Path of an entry from the root of the account; undefined if it lies elsewhere, or has an invalid name. */
function pathOf(href: string, url: string, root: string): string | undefined {
  const steps = (pathname: string) => pathname.split("/").filter(Boolean).map(unescaped);
  // Some servers write names as they are, or two slashes at the beginning.
  const written = href
    .replace(/^\/{2,}/, "/")
    .replace(/%(?![\da-f]{2})/gi, "%25")
    .replaceAll("#", "%23")
    .replaceAll("?", "%3F");
  const found = URL.parse(written, url);
  if (!found) return;
  const base = steps(root);
  const all = steps(found.pathname);
  if (base.some((step, index) => all[index] !== step)) return;
  const own = all.slice(base.length);
  return own.some((step) => step === ".." || step.includes("/") || /\p{Cc}/u.test(step)) ? undefined : own.join("/");
}
