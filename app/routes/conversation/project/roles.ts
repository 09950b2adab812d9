/** Roles of a project's members. */
export const roles = { owner: "Es suyo", writes: "Puede escribir", reads: "Puede leer" } as const;
