/** Names of the fields that stand hidden, or as a choice, beside the visible field `name`. */
export const hidden = {
  /** The id of what a reference field refers to. */
  picked: (name: string) => `pick.${name}`,
  /** The text that the picked id belongs to; another text needs another pick. */
  pickedFor: (name: string) => `for.${name}`,
  /** The exact moment; the visible field has it only to the minute. */
  moment: (name: string) => `at.${name}`,
  /** The zone that the visible moment is written in. */
  zone: (name: string) => `zone.${name}`,
  /** After a conflict: `mine` or `theirs`. */
  keep: (name: string) => `keep.${name}`,
  /** After a conflict: the stored value. */
  theirs: (name: string) => `theirs.${name}`,
};
