/** Everybody's in the tests. In a file of its own: what starts no API must not load it for that. */
export const password = "una frase larga y rara";
