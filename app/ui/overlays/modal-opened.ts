/** The event on the document when a modal dialog opens: toasts then move above it. */
export const modalOpened = "modalopened";
