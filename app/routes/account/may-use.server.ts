import { read } from "../../web/api-result.server.ts";
import { apiContext, type Context } from "../../web/context.ts";
import type { CurrentUser } from "../../web/current-user.server.ts";

// The most items that a list returns at once.
const all = { limit: "100" };

export type MayUse = { label: string; names: string[] }[];

/** Rights of a person, in words: their groups, the models, tools and assistants that they may use, and how long their data are kept. */
export async function mayUse(context: Context, { groups }: Pick<CurrentUser, "groups">): Promise<MayUse> {
  const { api } = context.get(apiContext);
  const enabled = { ...all, filter: JSON.stringify({ enabled: true }) };
  const [models, tools, assistants, retentions] = await Promise.all([
    read(api.model.$get({ query: enabled })),
    read(api.tool.$get({ query: enabled })),
    read(api.assistant.$get({ query: { ...all, filter: JSON.stringify({ shared: true }) } })),
    read(api.retention.$get({ query: all })),
  ]);
  const namesOf = ({ items }: { items: { name: string }[] }) => items.map(({ name }) => name);
  return [
    {
      label: "Tus grupos",
      names: groups.map(({ name, budget }) => (budget === null ? name : `${name} (${spent(budget)})`)),
    },
    { label: "Modelos", names: namesOf(models) },
    { label: "Herramientas", names: namesOf(tools) },
    { label: "Asistentes de la casa", names: namesOf(assistants) },
    { label: "Cuánto se guarda", names: keptFor(retentions.items) },
  ].filter(({ names }) => names.length > 0);
}

type Retention = { kind: string; days: number; keepsPinned: boolean };

/** How long the person's own data are kept: by the shortest of the rules that apply to the person. */
function keptFor(rules: Retention[]): string[] {
  const words = { chats: "conversaciones", files: "archivos", usage: "uso" };
  return Object.entries(words).flatMap(([kind, word]) => {
    const [shortest] = rules.filter((rule) => rule.kind === kind).sort((a, b) => a.days - b.days);
    if (!shortest) return [];
    const pinned = kind === "chats" && shortest.keepsPinned ? " (las fijadas, siempre)" : "";
    return `${word}: ${shortest.days.toLocaleString("es")} ${shortest.days === 1 ? "día" : "días"}${pinned}`;
  });
}

const spent = (share: number) => `gastado el ${Math.floor(Math.min(1, share) * 100)} % de su presupuesto de este mes`;
