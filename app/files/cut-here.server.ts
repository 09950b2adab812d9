/** The note at the end of a text that was only read in part. */
export const cutHere = "[Aquí se corta: el documento es más largo de lo que se puede leer.]";
