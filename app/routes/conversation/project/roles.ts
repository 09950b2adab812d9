/** What a member of a project may do there. */
export const roles = { owner: "Es suyo", writes: "Puede escribir", reads: "Puede leer" } as const;
