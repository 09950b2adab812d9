import type { Db } from "../db/engine.server.ts";
import { prepared } from "../db/prepared.server.ts";
import { newRow } from "../db/rows.server.ts";
import type { ToolAccountRow, ToolRow } from "../db/tables.ts";
import { storedJson } from "../process/text/json.ts";
import type { ToolSettings } from "./settings.ts";

/** A tool as a person reaches it. `account`: the person's own account at the tool's server, if the server wants one for each person. */
export type ReachedTool = ToolRow & { account?: ToolAccountRow };

export const settingsOf = ({ settings }: Pick<ToolRow, "settings">) => storedJson<ToolSettings>(settings);

/** Whether a server of tools is used with an account of each person's. */
export const isPersonal = (row: Pick<ToolRow, "settings">): boolean => settingsOf(row).personal === true;

/** The tools that a person reaches: of a server that wants each person's account, what it offers to that account once it is connected. */
export async function reachedBy<Row extends ToolRow>(
  db: Db,
  userId: string,
  rows: Row[],
): Promise<(Row & ReachedTool)[]> {
  if (!rows.some(isPersonal)) return rows;
  const accounts = await findAccounts(db, { userId });
  return rows.flatMap((row): (Row & ReachedTool)[] => {
    if (!isPersonal(row)) return [row];
    const account = accounts.rows.find(({ toolId }) => toolId === row.id);
    return account?.connectedAt ? [through(row, account)] : [];
  });
}

/** A tool through a person's account, which is made where they have none. */
export async function throughAccount(db: Db, userId: string, row: ToolRow): Promise<ReachedTool> {
  const now = Date.now();
  const account: ToolAccountRow = {
    ...{ ...newRow(now), userId, toolId: row.id },
    ...{ access: null, connectedAt: null, listed: "[]", listedAt: null, problem: null },
  };
  await db
    .insertInto("toolAccounts")
    .values(account)
    .onConflict((conflict) => conflict.columns(["userId", "toolId"]).doNothing())
    .execute();
  const kept = await db
    .selectFrom("toolAccounts")
    .where("userId", "=", userId)
    .where("toolId", "=", row.id)
    .selectAll()
    .executeTakeFirstOrThrow();
  return through(row, kept);
}

const through = <Row extends ToolRow>(row: Row, account: ToolAccountRow): Row & ReachedTool => ({
  ...row,
  listed: account.listed,
  listedAt: account.listedAt,
  account,
});

const findAccounts = prepared((db, { userId }: { userId: string }) =>
  db.selectFrom("toolAccounts").where("userId", "=", userId).selectAll(),
);
