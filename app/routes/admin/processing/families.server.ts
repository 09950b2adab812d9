import { blank, type Processing, timeOf } from "./in-words.server.ts";

/** Facts of a letter to families, as far as the settings say. */
export function familiesOf({ controller, recipients, kept, security }: Processing) {
  const { minorGroups } = security;
  const theirs = (groups: string[] | null) => groups === null || groups.some((group) => minorGroups.includes(group));
  const models = recipients.filter(({ kind, groups }) => kind === "model" && theirs(groups));
  const outside = models.filter(({ host }) => host !== null);
  const others = recipients.some(({ kind, host }) => kind !== "model" && host !== null);
  const chats = kept.find(({ kind }) => kind === "chats");
  const rules = chats?.rules.filter(({ group }) => theirs(group === null ? null : [group])) ?? [];
  return {
    controller: controller.name ?? blank,
    contact: controller.contact ?? blank,
    models:
      outside.length === 0
        ? `Con modelos que están en nuestra propia máquina${others ? "." : ": lo que se escribe no sale de ella."}`
        : `Con modelos de fuera (${outside.map(({ name, host }) => `${name}, en ${host}`).join("; ")}): lo que se escribe llega a esas empresas.`,
    kept:
      chats && rules.length > 0
        ? `Las conversaciones: ${timeOf({ ...chats, rules })}.`
        : "Las conversaciones, hasta que alguien las borra.",
    isKept: minorGroups.length > 0,
    blank,
  };
}
