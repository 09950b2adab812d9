/** Freedoms of a written page whose scripts may run, in its frame and in its own policy. */
export const freedoms = "allow-scripts allow-forms allow-downloads";
