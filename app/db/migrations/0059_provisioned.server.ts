import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, schema } from "./0001_first.server.ts";

/** Accounts and groups that a provider of identities keeps here by SCIM, with its names of them; `id` is that of the account or group. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, id, text } = schema(db, engine);
  await table("provisioned", (t) =>
    t
      .addColumn("userId", id, optional("users", "cascade"))
      .addColumn("groupId", id, optional("groups", "cascade"))
      .addColumn("externalId", text)
      .addColumn("userName", text)
      .addColumn("userNameKey", text)
      .addUniqueConstraint("provisioned_userNameKey", ["userNameKey"]),
  );
  await index("provisioned", "userId");
  await index("provisioned", "groupId");
  await index("provisioned", "externalId");
}
