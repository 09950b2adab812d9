import {
  AuthMethodNotSupportedError,
  Client,
  ConfidentialityRequiredError,
  ConstraintViolationError,
  type Entry,
  escapeFilter,
  Filter,
  InappropriateAuthError,
  InappropriateMatchingError,
  InsufficientAccessError,
  InvalidCredentialsError,
  InvalidDNSyntaxError,
  NoSuchObjectError,
  OperationsError,
  ProtocolError,
  StrongAuthRequiredError,
  UndefinedTypeError,
  UnwillingToPerformError,
} from "ldapts";
import type { AccessRow } from "../../db/tables.ts";
import { decrypt } from "../../process/crypto.server.ts";
import { faultOf } from "../../process/fault.ts";
import { usualFilter } from "./accesses.server.ts";
import type { Facts } from "./enter.server.ts";
import { unescapedName } from "./group-names.server.ts";

/** Nobody or more than one person has that name, or the password is wrong: the error does not tell which. */
export class WrongCredentials extends Error {}

/** The directory knows the person, and does not let them in. The message is the sentence for them. */
export class ShutOut extends Error {}

/** The directory does not do what this installation asks: it is set up wrongly, here or there. */
export class RefusesUs extends Error {}

// In ms, for each request: a directory that hangs makes nobody wait longer.
const patience = 8_000;
const groupsAtMost = 10_000;
// Groups within groups, and groups that one request asks about.
const deepest = 5;
const groupsAtOnce = 100;

// Attributes that hold a person's name or lasting id in different directories; the first one present counts.
const names = ["displayName", "cn", "name"];
const subjects = ["entryUUID", "objectGUID", "ipaUniqueID", "nsUniqueId"];

/**
 * Looks a person up in a directory and proves the password there (RFC 4511, bind). Throws WrongCredentials; anything else that is
 * thrown is the directory's failure.
 */
export async function askDirectory(
  access: AccessRow,
  accessKey: Buffer,
  { username, password }: { username: string; password: string },
): Promise<Facts> {
  return withClient(access, async (client) => {
    const entry = await findPerson(client, access, accessKey, username).catch(refused);
    // This bind has its own connection, so that the searching connection keeps its rights.
    await withClient(access, (own) => own.bind(entry.dn, password).catch(wrongIfRefused));
    return {
      subject: firstOf(entry, subjects) ?? entry.dn,
      email: firstOf(entry, ["mail", "email"])?.trim() || null,
      // The organisation wrote the directory, so its entries are trusted.
      emailVerified: true,
      name: firstOf(entry, names) ?? username,
      groups: await groupsOf(client, access, entry).catch(refused),
      providerSession: null,
      idToken: null,
    };
  });
}

async function withClient<Result>({ address }: AccessRow, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ url: address, timeout: patience, connectTimeout: patience });
  try {
    return await work(client);
  } finally {
    // The connection may never have opened, or may be gone.
    await client.unbind().catch(() => undefined);
  }
}

// Answers to a request that is wrong in itself, and will be as wrong in a moment.
const refusals = [
  ...[InvalidCredentialsError, InappropriateAuthError, InsufficientAccessError, StrongAuthRequiredError],
  ...[
    ConfidentialityRequiredError,
    OperationsError,
    NoSuchObjectError,
    InvalidDNSyntaxError,
    InappropriateMatchingError,
  ],
  ...[UndefinedTypeError, UnwillingToPerformError, ProtocolError, AuthMethodNotSupportedError],
];
// Faults of certificates and addresses, by their codes in Node.
const wrongAddress = /^(?:ENOTFOUND|ERR_TLS_|ERR_SSL_|EPROTO|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** A mistake in the settings is neither the person's nor a passing fault of the directory. */
function refused(error: unknown): never {
  const isOurs = refusals.some((kind) => error instanceof kind) || wrongAddress.test(faultOf(error).code);
  throw isOurs ? new RefusesUs("the directory refuses what this installation asks", { cause: error }) : error;
}

const refusing = [InvalidCredentialsError, ConstraintViolationError, UnwillingToPerformError];
// Active Directory's reasons (MS-ADTS and Windows' error codes), which it gives only with the right password, except for a locked account.
const reasons: [code: RegExp, sentence: string][] = [
  [/data (?:532|773)\b/, "Tu contraseña ha caducado: cámbiala primero donde se cambia, como el ordenador del trabajo."],
  [/data (?:533|701)\b/, "Tu cuenta está desactivada o ha caducado. Avisa a quien la lleva."],
  [/data 775\b/, "Tu cuenta está bloqueada por demasiados intentos. Espera un rato o avisa a quien la lleva."],
];

function wrongIfRefused(error: unknown): never {
  // Directories refuse the locked and disabled ones with «constraint violation» or «unwilling to perform» (RFC 4511).
  if (!refusing.some((kind) => error instanceof kind)) throw error;
  const [, sentence] = reasons.find(([code]) => code.test(faultOf(error).message)) ?? [];
  throw sentence ? new ShutOut(sentence) : new WrongCredentials();
}

async function findPerson(client: Client, access: AccessRow, accessKey: Buffer, username: string): Promise<Entry> {
  if (access.clientId) {
    await client.bind(access.clientId, access.secret === null ? "" : decrypt(access.secret, accessKey, access.id));
  }
  const filter = (access.userFilter ?? usualFilter).replaceAll("{usuario}", () => Filter.escape(username));
  const { searchEntries } = await client.search(access.searchBase ?? "", {
    filter,
    // A second entry shows that the name is not unique.
    sizeLimit: 2,
    timeLimit: patience / 1000,
    attributes: [...names, ...subjects, "mail", "email", "memberOf", "uid"],
    explicitBufferAttributes: ["objectGUID", "objectguid"],
  });
  const [entry, another] = searchEntries;
  if (!entry || another) throw new WrongCredentials();
  return entry;
}

/**
 * The groups of a person, from the person's entry and from the groups' entries, and the groups that those are in; each by its whole DN and by
 * the first value in it.
 */
async function groupsOf(client: Client, { groupBase }: AccessRow, entry: Entry): Promise<string[]> {
  const found = new Set(valuesOf(entry, "memberOf"));
  const uids = valuesOf(entry, "uid");
  let asked = [entry.dn, ...found];
  for (let depth = 0; groupBase && depth < deepest && asked.length > 0; depth++) {
    const members = asked.slice(0, groupsAtOnce).map((dn) => escapeFilter`(member=${dn})(uniqueMember=${dn})`);
    if (depth === 0)
      members.push(...(uids.length > 0 ? uids : [entry.dn]).map((uid) => escapeFilter`(memberUid=${uid})`));
    const { searchEntries } = await client.search(groupBase, {
      filter: `(|${members.join("")})`,
      sizeLimit: groupsAtMost,
      timeLimit: patience / 1000,
      attributes: ["1.1"],
    });
    asked = searchEntries.map(({ dn }) => dn).filter((dn) => !found.has(dn));
    for (const dn of asked) found.add(dn);
  }
  const short = [...found].flatMap((dn) => {
    const [, name] = /^[^=]+=((?:\\.|[^,\\])+)/.exec(dn) ?? [];
    return name === undefined ? [] : [unescapedName(name)];
  });
  return [...new Set([...found, ...short])];
}

const firstOf = (entry: Entry, attributes: string[]): string | undefined =>
  attributes.flatMap((attribute) => valuesOf(entry, attribute)).find((value) => value !== "");

function valuesOf(entry: Entry, attribute: string): string[] {
  // Names of attributes have no case (RFC 4512), and a server may write them in its own.
  const name = Object.keys(entry).find((key) => key.toLowerCase() === attribute.toLowerCase());
  const value = (name !== undefined && entry[name]) || [];
  return [value].flat().map((one) => (typeof one === "string" ? one : one.toString("hex")));
}
