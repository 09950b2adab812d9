import {
  Client,
  ConstraintViolationError,
  type Entry,
  escapeFilter,
  Filter,
  InvalidCredentialsError,
  UnwillingToPerformError,
} from "ldapts";
import type { AccessRow } from "../../db/tables.ts";
import { decrypt } from "../../process/crypto.server.ts";
import { usualFilter } from "./accesses.server.ts";
import type { Facts } from "./enter.server.ts";

/** Nobody or more than one person has that name, or the password is wrong: the error does not tell which. */
export class WrongCredentials extends Error {}

/** The directory does not let this installation search. */
export class RefusesUs extends Error {}

// In ms, for each request: a directory that hangs makes nobody wait longer.
const patience = 8_000;
const groupsAtMost = 10_000;

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
    if (access.clientId) {
      await client
        .bind(access.clientId, access.secret === null ? "" : decrypt(access.secret, accessKey, access.id))
        .catch(refused);
    }
    const entry = await findPerson(client, access, username);
    // This bind has its own connection, so that the searching connection keeps its rights.
    await withClient(access, (own) => own.bind(entry.dn, password).catch(wrongIfRefused));
    return {
      subject: firstOf(entry, subjects) ?? entry.dn,
      email: firstOf(entry, ["mail", "email"]) ?? null,
      // The organisation wrote the directory, so its entries are trusted.
      emailVerified: true,
      name: firstOf(entry, names) ?? username,
      groups: await groupsOf(client, access, entry),
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

/** A wrong password in this installation's settings is not the person's mistake. */
function refused(error: unknown): never {
  throw error instanceof InvalidCredentialsError ? new RefusesUs("wrong name or password", { cause: error }) : error;
}

const refusing = [InvalidCredentialsError, ConstraintViolationError, UnwillingToPerformError];

function wrongIfRefused(error: unknown): never {
  // Directories refuse the locked and disabled ones with «constraint violation» or «unwilling to perform» (RFC 4511).
  const isRefused = refusing.some((kind) => error instanceof kind);
  throw isRefused ? new WrongCredentials() : error;
}

async function findPerson(client: Client, access: AccessRow, username: string): Promise<Entry> {
  const filter = (access.userFilter ?? usualFilter).replaceAll("{usuario}", () => Filter.escape(username));
  const { searchEntries } = await client.search(access.searchBase ?? "", {
    filter,
    // A second entry shows that the name is not unique.
    sizeLimit: 2,
    timeLimit: patience / 1000,
    attributes: [...names, ...subjects, "mail", "email", "memberOf", "uid"],
    explicitBufferAttributes: ["objectGUID"],
  });
  const [entry, another] = searchEntries;
  if (!entry || another) throw new WrongCredentials();
  return entry;
}

/** The groups of a person, from the person's entry and from the groups' entries; each by its whole DN and by the first value in it. */
async function groupsOf(client: Client, { groupBase }: AccessRow, entry: Entry): Promise<string[]> {
  const said = valuesOf(entry, "memberOf");
  if (groupBase) {
    const uid = firstOf(entry, ["uid"]) ?? entry.dn;
    const { searchEntries } = await client.search(groupBase, {
      filter: escapeFilter`(|(member=${entry.dn})(uniqueMember=${entry.dn})(memberUid=${uid}))`,
      sizeLimit: groupsAtMost,
      timeLimit: patience / 1000,
      attributes: ["1.1"],
    });
    said.push(...searchEntries.map(({ dn }) => dn));
  }
  const short = said.flatMap((dn) => /^[^=]+=((?:\\.|[^,\\])+)/.exec(dn)?.[1]?.replace(/\\(.)/g, "$1") ?? []);
  return [...new Set([...said, ...short])];
}

const firstOf = (entry: Entry, attributes: string[]): string | undefined =>
  attributes.flatMap((attribute) => valuesOf(entry, attribute)).find((value) => value !== "");

function valuesOf(entry: Entry, attribute: string): string[] {
  const value = entry[attribute] ?? [];
  return [value].flat().map((one) => (typeof one === "string" ? one : one.toString("hex")));
}
