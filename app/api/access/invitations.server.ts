import { createHmac } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { readHouse } from "../../db/house.server.ts";
import type { InvitationRow } from "../../db/tables.ts";
import { sameSecret } from "../../process/crypto.server.ts";
import { email } from "../auth/accounts.server.ts";
import type { Services } from "../env.server.ts";
import { checkGroupIds, groupIds, parseGroupIds, shownGroupIds } from "../groups/group-ids.server.ts";
import type { Resource } from "../http/resource.server.ts";
import { iso, isoOrNull, rowFields, timesOf } from "../http/schemas.server.ts";

// In ms.
const lives = 7 * 24 * 60 * 60_000;

const fields = {
  email: email
    .nullable()
    .default(null)
    .openapi({ description: "De quién será la cuenta; null: de quien tenga el enlace." }),
  role: z.enum(["user", "admin"], "Ese rol no existe.").default("user"),
  groupIds: groupIds.openapi({ description: "Los grupos en los que estará." }),
};
const body = z.strictObject(fields);
const shown = z
  .object({
    ...rowFields,
    ...fields,
    email: z.string().nullable(),
    groupIds: shownGroupIds,
    expiresAt: z.string(),
    usedAt: z.string().nullable(),
    userId: z.string().nullable().openapi({ description: "La cuenta que se hizo con ella." }),
  })
  .openapi("Invitation");

/** Links by which somebody makes an account, with the role and the groups that are written here. Each is used once. */
export const invitations: Resource<"invitations", typeof shown, typeof body> = {
  table: "invitations",
  name: "invitation",
  shown,
  body,
  show: ({ inviterId: _inviter, ...row }) => ({
    ...row,
    ...timesOf(row),
    groupIds: parseGroupIds(row),
    expiresAt: iso(row.expiresAt),
    usedAt: isoOrNull(row.usedAt),
  }),
  async columns(given, { services, person, before, now }) {
    await checkGroupIds(services.db, given.groupIds, before && parseGroupIds(before));
    const { expiresAt, usedAt, userId } = before ?? { expiresAt: now + lives, usedAt: null, userId: null };
    // The last administrator who changes an invitation is responsible for it.
    return { ...given, expiresAt, usedAt, userId, inviterId: person.id };
  },
  async afterCommit(row, { services, before }) {
    const { mail, config } = services;
    if (before || !row.email || !config.publicUrl) return row;
    const { name } = await readHouse(services.db);
    mail.post({
      to: row.email,
      subject: `Una invitación a ${name}`,
      text: `Hola:

Te han invitado a ${name}. Este enlace hace tu cuenta; vale siete días y se usa una vez:

${config.publicUrl}${invitationPath(services, row)}

Si no lo esperabas, no hace falta que hagas nada.
`,
    });
    return row;
  },
  list: {
    searched: ["email"],
    sortable: [{ number: "createdAt", direction: "desc" }],
    filters: { role: "text" },
  },
};

/** Address at which an invitation is accepted. The token is derived, so that it is not stored and administrators can read it again. */
export const invitationPath = (services: Services, { id }: Pick<InvitationRow, "id">): string =>
  `/auth/invitacion/${id}.${proofOf(services, id)}`;

/** The invitation of a token that was made here, used or not. */
export async function invitationOf(services: Services, token: string): Promise<InvitationRow | undefined> {
  const [id = "", proof = ""] = token.split(".");
  if (!sameSecret(proof, proofOf(services, id))) return undefined;
  return services.db.selectFrom("invitations").where("id", "=", id).selectAll().executeTakeFirst();
}

const proofOf = ({ tokenKey }: Services, id: string) =>
  createHmac("sha256", tokenKey).update(`invitation:${id}`).digest("base64url");
