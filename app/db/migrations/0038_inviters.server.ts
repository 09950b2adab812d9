import { type Kysely, sql } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, schema } from "./0001_first.server.ts";

/** Maker of an invitation, which is worth nothing once they administer no more. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { id } = schema(db, engine);
  await db.schema.alterTable("invitations").addColumn("inviterId", id, optional("users", "set null")).execute();
  // The audit trail knows who has made those that are still open.
  await sql`
    update invitations set "inviterId" = (
      select max(u.id) from audit a join users u on u.id = a."actorId"
      where a.resource = 'invitation' and a."resourceId" = invitations.id and a.action = 'create'
    ) where "usedAt" is null`.execute(db);
}
