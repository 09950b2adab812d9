export const kindWords = { text: "Texto", table: "Tabla", code: "Programa" } as const;

type Version = { createdAt: string; writer: { person: boolean; name: string | null }; reason: string };

/** Writer of a version in words. */
export const writerWords = ({ writer: { person, name } }: Pick<Version, "writer">): string =>
  name ?? (person ? "una cuenta que ya no existe" : "un modelo que ya no existe");
