import { momentInWords } from "../../../process/time-zones.server.ts";
import type { Client } from "../../../web/api-client.server.ts";

type Answer = Awaited<ReturnType<Awaited<ReturnType<Client["api"]["inspection"]["$get"]>>["json"]>>;

const kinds: Record<Answer["items"][number]["resource"], string> = {
  chat: "Conversación",
  file: "Archivo",
  project: "Proyecto",
  backup: "Copia",
};

/** Whether administrators read here, as ADMIN_READS says. */
const rules: Record<Answer["rule"], string> = {
  open: "Quien administra esta instalación puede leer lo que escribes, salvo lo temporal. Cada lectura se apunta aquí.",
  reason:
    "Quien administra esta instalación puede leer lo que escribes, salvo lo temporal, si antes dice para qué. Cada lectura se apunta aquí, y te llega un aviso; si hay una razón para no avisarte, sale aquí a los treinta días.",
  never:
    "Quien administra esta instalación no puede leer lo que escribes; lo que enseñes a un grupo lo lee quien esté en él, y quien administra decide quién está.",
};

/** Inspections of a person's content by administrators, as texts of the page. */
export const inspectionsInWords = ({ rule, items, nextCursor }: Answer, timeZone: string) => ({
  rule: rules[rule],
  items: items.map(({ id, at, by, resource, title, purpose }) => ({
    id,
    who: by,
    what: `${kinds[resource]}${title ? ` «${title}»` : ", ya eliminada"}`,
    when: momentInWords(Date.parse(at), Date.now(), timeZone),
    purpose,
  })),
  older: nextCursor && `/user/seguridad?lecturas=${encodeURIComponent(nextCursor)}#lecturas`,
});
