/** For each kind of reference: the resource to search, and the sentence if nothing is found. */
export const referred = {
  person: { path: "user", none: "Esa persona no existe." },
  chat: { path: "chat", none: "Esa conversación no existe." },
  message: { path: "message", none: "Ese mensaje no existe." },
  project: { path: "project", none: "Ese proyecto no existe." },
  group: { path: "group", none: "Ese grupo no existe." },
  model: { path: "model", none: "Ese modelo no existe." },
} as const;
export type Reference = keyof typeof referred;

export const isReference = (kind: string | undefined): kind is Reference => kind !== undefined && kind in referred;
