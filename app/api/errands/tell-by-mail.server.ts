import type { ErrandRow } from "../../db/tables.ts";
import type { Services } from "../env.server.ts";

/** Tells the person of an errand its state by mail, if the person wants that and the house sends mail. `said`: as in «está hecho». */
export async function tellByMail(
  { db, mail, config }: Services,
  { id, userId, title, notifies }: Pick<ErrandRow, "id" | "userId" | "title" | "notifies">,
  said: string,
): Promise<void> {
  if (!notifies || !config.publicUrl) return;
  const person = await db.selectFrom("users").where("id", "=", userId).select("email").executeTakeFirst();
  if (!person) return;
  const text = `Hola:\n\nTu encargo «${title}» ${said}\n\n${config.publicUrl}/conversation/encargo/${id}\n`;
  mail.post({ to: person.email, subject: `Encargo: ${title}`, text });
}
