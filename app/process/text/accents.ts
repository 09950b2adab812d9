/** A text without its accents and tildes. */
export const withoutAccents = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "");
