import { z } from "@hono/zod-openapi";
import type { Db } from "../../db/engine.server.ts";
import { limits } from "../../process/limits.ts";
import type { Person } from "../env.server.ts";
import { invalid, Problem } from "../http/problem.server.ts";
import type { Resource } from "../http/resource.server.ts";
import { id, rowFields, text, timesOf } from "../http/schemas.server.ts";

const fields = { userId: id, reason: text("El motivo", limits.holdReason).default("") };
const body = z.strictObject(fields);
const shown = z.object({ ...rowFields, ...fields }).openapi("Hold");

/** People whose data no rule and no person may delete for now, as when a court may ask for the data. */
export const holds: Resource<"holds", typeof shown, typeof body> = {
  table: "holds",
  name: "hold",
  shown,
  body,
  show: (row) => ({ ...row, ...timesOf(row) }),
  async columns(given, { services: { db } }) {
    const user = await db.selectFrom("users").where("id", "=", given.userId).select("id").executeTakeFirst();
    if (!user) throw invalid("userId", "Esa persona no existe.");
    return given;
  },
  list: {
    searched: ["reason"],
    sortable: [{ number: "createdAt", direction: "desc" }],
    filters: { userId: "text" },
  },
  searchesPeople: true,
};

/** Throws 409 if nothing of this owner may be deleted now. */
export async function refuseOnHold(db: Db, person: Pick<Person, "id">, ownerId: string): Promise<void> {
  const hold = await db.selectFrom("holds").where("userId", "=", ownerId).select("id").executeTakeFirst();
  if (!hold) return;
  throw new Problem(
    409,
    person.id === ownerId
      ? "Quien administra ha suspendido el borrado de lo tuyo: por ahora no se puede eliminar. Pregúntale."
      : "El borrado de lo de esta persona está suspendido. Quita antes la suspensión, en «Suspensiones de borrado».",
  );
}
