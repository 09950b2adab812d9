/** The domains of a setting with commas or blanks between them, in lower case and without an @ before them. */
export const domainsIn = (said: string): string[] =>
  said
    .toLowerCase()
    .split(/[\s,]+/)
    .map((domain) => domain.replace(/^@/, ""))
    .filter(Boolean);

/** Whether an e-mail address belongs to one of these domains; false without an address. */
export const isOfDomains = (email: string | null, domains: string[]): boolean =>
  domains.includes(email?.toLowerCase().split("@").at(-1) ?? "");
