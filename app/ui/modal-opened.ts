/** Said on the document when a dialog has come to the top: toasts come above it. */
export const modalOpened = "modalopened";
