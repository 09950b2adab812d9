import { z } from "@hono/zod-openapi";
import { expressionBuilder } from "kysely";
import { forGroupsOf } from "../../db/people/groups.server.ts";
import type { Tables } from "../../db/tables.ts";
import { DriveRefused, findAddress, withSlash } from "../../files/drives/webdav.server.ts";
import type { Person } from "../env.server.ts";
import { checkGroupIds, groupIds, parseGroupIds, shownGroupIds } from "../groups/group-ids.server.ts";
import { isAdmin } from "../http/authentication.server.ts";
import { invalid } from "../http/problem.server.ts";
import type { Resource } from "../http/resource.server.ts";
import { flag, flagsOf, line, rowFields, serverUrl, timesOf } from "../http/schemas.server.ts";

const fields = {
  name: line("El nombre", 60, 1),
  address: serverUrl("un servidor de archivos", 1_000)
    .refine((url) => !/[?#]/.test(url), "La dirección no lleva nada detrás de su ruta.")
    .openapi({
      description: "De un Nextcloud u ownCloud, la suya; de otro servidor, la de su WebDAV.",
    }),
  enabled: flag.default(true),
  groupIds,
};
const body = z.strictObject(fields);
const shown = z.object({ ...rowFields, ...fields, address: z.string(), groupIds: shownGroupIds }).openapi("Drive");

const e = expressionBuilder<Tables, "drives">();

/** Condition on servers of files: a person may connect an account there. */
export const mayConnect = (person: Person) => {
  const isOn = e("drives.enabled", "=", 1);
  return isAdmin(person) ? isOn : e.and([isOn, forGroupsOf("drives", person.id)]);
};

/** Servers of files (WebDAV) at which people connect accounts of their own. For admins alone. */
export const drives: Resource<"drives", typeof shown, typeof body> = {
  table: "drives",
  name: "drive",
  shown,
  body,
  show: (row) => ({ ...row, ...timesOf(row), ...flagsOf(row, "enabled"), groupIds: parseGroupIds(row) }),
  async columns(given, { services: { db }, id, before }) {
    await checkGroupIds(db, given.groupIds, before && parseGroupIds(before));
    if (before && new URL(given.address).origin !== new URL(before.address).origin) {
      const accounts = db.selectFrom("driveAccounts").where("driveId", "=", id).select("id").limit(1);
      // People's passwords must not go to another server when the address changes.
      if (await accounts.executeTakeFirst()) {
        throw invalid("address", "Hay cuentas conectadas en el servidor de antes. Añade este como otro servidor.");
      }
    }
    const isNew = given.enabled && (before?.enabled !== 1 || given.address !== before.address);
    return { ...given, address: isNew ? await answering(given.address) : withSlash(given.address) };
  },
  list: {
    searched: ["name", "address"],
    sortable: [
      { text: "name", direction: "asc" },
      { text: "address", direction: "asc" },
      { number: "enabled", direction: "desc" },
    ],
    filters: { enabled: "flag" },
  },
};

/** The address of the files of that server. Throws 422 if there is none. */
async function answering(address: string): Promise<string> {
  return findAddress(address).catch((error) => {
    if (!(error instanceof DriveRefused)) throw error;
    throw invalid("address", `Se ha probado, y no va. ${error.message}`);
  });
}
