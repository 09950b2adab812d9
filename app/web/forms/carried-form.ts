// The names of an unsent form's fields have this prefix in the sign-in form that carries them.
const prefix = "held.";

export const isCarried = (name: string) => name.startsWith(prefix);

type Fields = [string, string][];

/** The fields that a sign-in form has for an unsent form: its own, and the path it was sent to. */
export const carry = ({ fields, action }: { fields: Fields; action: string }): Fields =>
  [...fields, ["action", action] as const].map(([name, value]) => [`${prefix}${name}`, value]);

/** The unsent form among the fields of a sign-in form, if there is one. */
export function uncarry(all: Fields): { fields: Fields; action: string } | undefined {
  const fields = all
    .filter(([name]) => isCarried(name))
    .map(([name, value]): Fields[number] => [name.slice(prefix.length), value]);
  const action = fields.find(([name]) => name === "action")?.[1];
  return action === undefined ? undefined : { fields: fields.filter(([name]) => name !== "action"), action };
}
