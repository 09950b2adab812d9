/** The domains of a setting with commas or blanks between them, in lower case and without an @ before them. */
export const domainsIn = (said: string): string[] =>
  said
    .toLowerCase()
    .split(/[\s,]+/)
    .map((domain) => domain.replace(/^@/, ""))
    .filter(Boolean);

/** Whether an e-mail address is of one of these domains; of none without one. */
export const isOfDomains = (email: string | null, domains: string[]): boolean =>
  domains.includes(email?.toLowerCase().split("@").at(-1) ?? "");
