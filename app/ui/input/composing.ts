/** Whether a key belongs to the input of a composed character, as in Japanese: Safari marks the Enter that ends it only by its key code. */
export const isComposing = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === 229;
