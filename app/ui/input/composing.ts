/** Whether a key belongs to the writing of a character, as in Japanese: Safari's Enter at its end says so by its number alone. */
export const isComposing = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === 229;
