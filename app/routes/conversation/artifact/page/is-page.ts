/** Whether a program of this language is a page. */
export const isPage = (language: string | null): boolean => language?.toLowerCase() === "html";
